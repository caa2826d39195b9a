#include "train/parity/parity.h"

#include <gtest/gtest.h>

#include "config/flags.h"
#include "train/layout_cases.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace parity_test {

TEST(Parity, ALayoutComputesWhatOneRankDoes) {
  const ParityCertificate certificate =
      prove_parity(tiny_run({"--num-layers", "4", "--tensor-model-parallel-size", "2",
                             "--sequence-parallel", "--pipeline-model-parallel-size", "2",
                             "--use-distributed-optimizer", "--global-batch-size", "16"},
                            32));
  EXPECT_EQ(certificate.world_size, 8);  // of 8 replicas two are enough
  EXPECT_EQ(certificate.losses.size(), 3U);
  EXPECT_EQ(certificate.first_difference(), "");
  EXPECT_TRUE(certificate.pass());
}

TEST(Parity, HoldsForEncodersToo) {
  for (const std::vector<std::string>& model : {std::vector<std::string>{"--model", "bert"},
                                                {"--model", "t5", "--decoder-seq-length", "6"}}) {
    std::vector<std::string> flags = {"--tensor-model-parallel-size", "2", "--sequence-parallel",
                                      "--pipeline-model-parallel-size", "2"};
    flags.insert(flags.end(), model.begin(), model.end());
    const ParityCertificate certificate = prove_parity(tiny_run(flags, 4));
    EXPECT_EQ(certificate.first_difference(), "");
    EXPECT_EQ(certificate.losses.size(), model[1] == "bert" ? 6U : 3U);
  }
}

TEST(Parity, ImagesInTextToo) {
  const std::string vlm =
      "--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 1 --seq-length 128 "
      "--num-layers 2 --world-size 4 --global-batch-size 16 ";
  for (const char* layout :
       {"--pipeline-model-parallel-size 2 --vision-hidden-size 48 --vision-num-attention-heads 6 "
        "--packing-buffer-size 4 --use-distributed-optimizer",
        "--tensor-model-parallel-size 2 --sequence-parallel --context-parallel-size 2 "
        "--use-tiling --max-num-tiles 2",
        "--tensor-model-parallel-size 2 --sequence-parallel --vision-projection-type pooled "
        "--mm-tokens-per-image 4 --bidirectional-image-attention --window-size 5,0",
        "--pipeline-model-parallel-size 2 --vision-projection-type pooled --mm-tokens-per-image 4 "
        "--bidirectional-image-attention --packing-buffer-size 4",
        "--tensor-model-parallel-size 2 --sequence-parallel --context-parallel-size 2 "
        "--position-embedding-type mrope --mrope-section 2 3 3 --vision-model-type qwen2_vl "
        "--pixel-shuffle --vision-hidden-size 48 --vision-num-attention-heads 6 "
        "--vision-projection-ffn-hidden-size 192",
        "--pipeline-model-parallel-size 2 --position-embedding-type mrope --mrope-section 2 3 3 "
        "--vision-model-type qwen2_vl --pixel-shuffle --packing-buffer-size 4 "
        "--use-distributed-optimizer"}) {
    SCOPED_TRACE(layout);
    const ParityCertificate certificate = prove_parity(test::parse_base(vlm + layout).run);
    EXPECT_EQ(certificate.first_difference(), "");
    EXPECT_GT(certificate.losses.front(), 0);
  }
}

/// As Llama 4 sees: experts among the layers, chunks of attention that end within images, which all
/// ranks of a replica see alike.
TEST(Parity, ImagesAmongExpertsToo) {
  const std::string llama4 =
      "--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 1 --seq-length 128 "
      "--num-layers 2 --world-size 4 --global-batch-size 16 --vision-model-type llama4 "
      "--vision-hidden-size 48 --vision-num-attention-heads 6 --pixel-shuffle "
      "--vision-projection-type adapter --vision-projection-ffn-hidden-size 96 "
      "--position-embedding-type rope --rotary-interleaved --no-rope-freq 2 "
      "--attention-chunk-size 6 --query-scale-floor 4 --num-experts 4 --moe-layer-freq 2 "
      "--moe-router-topk 1 --moe-router-score-function sigmoid --moe-apply-probs-on-input "
      "--moe-shared-expert-intermediate-size 64 --disable-bias-linear ";
  for (const char* layout :
       {"--tensor-model-parallel-size 2 --sequence-parallel --pipeline-model-parallel-size 2",
        "--expert-model-parallel-size 4 --use-distributed-optimizer"}) {
    SCOPED_TRACE(layout);
    const ParityCertificate certificate = prove_parity(test::parse_base(llama4 + layout).run);
    EXPECT_EQ(certificate.first_difference(), "");
    EXPECT_GT(certificate.losses.front(), 0);
  }
}

/// Teacher, centre and held last layer are the same in every layout; so are the branches that are
/// left out.
TEST(Parity, CropsOfDinoToo) {
  const std::string dino =
      "--model vit --vision-pretraining-type dino --img-h 32 --img-w 32 --patch-dim 8 "
      "--class-token-length 8 --dino-local-img-size 16 --dino-local-crops-number 2 --num-layers 2 "
      "--hidden-size 64 --num-attention-heads 8 --seq-length 24 --max-position-embeddings 24 "
      "--micro-batch-size 1 --global-batch-size 16 --hidden-dropout 0.1 --attention-dropout 0.1 ";
  for (const char* layout :
       {"--world-size 1", "--world-size 2", "--world-size 2 --tensor-model-parallel-size 2",
        "--world-size 4 --tensor-model-parallel-size 2 --sequence-parallel "
        "--use-distributed-optimizer",
        "--world-size 8 --tensor-model-parallel-size 4 --use-megatron-fsdp "
        "--data-parallel-sharding-strategy optim_grads_params"}) {
    SCOPED_TRACE(layout);
    const ParityCertificate certificate = prove_parity(test::parse_base(dino + layout).run);
    EXPECT_EQ(certificate.first_difference(), "");
    EXPECT_GT(certificate.losses.front(), 0);
  }
}

/// As many replicas as hold one of all experts, where that is more than two.
TEST(Parity, ExpertsToo) {
  const ParityCertificate certificate = prove_parity(
      tiny_run({"--num-experts", "8", "--disable-bias-linear", "--moe-aux-loss-coeff", "0.1",
                "--expert-model-parallel-size", "4", "--moe-token-dispatcher-type", "alltoall",
                "--global-batch-size", "32"},
               16));
  EXPECT_EQ(certificate.world_size, 8);
  EXPECT_EQ(certificate.first_difference(), "");
}

TEST(Parity, NamesTheFirstDifference) {
  ParityCertificate certificate{.losses = {1, 2},
                                .expected_losses = {1, 2},
                                .grad_norms = {3, 4},
                                .expected_grad_norms = {3, 4},
                                .tensors = {{"first", 1e-7}, {"second", 1e-5}, {"third", 1}}};
  EXPECT_EQ(certificate.first_difference(), "second");
  certificate.grad_norms[1] = 4.1;
  EXPECT_EQ(certificate.first_difference(), "gradient norm of iteration 2");
  certificate.losses[0] = std::nan("");
  EXPECT_EQ(certificate.first_difference(), "loss of iteration 1");
  EXPECT_FALSE(certificate.pass());
}

}  // namespace parity_test

// Every layout trains the same model: loss, gradient norm and weights agree with one rank, with
// dropout on.
namespace layout_run_test {

class LayoutTest : public ::testing::TestWithParam<Layout> {
 protected:
  // SGD: Adam's first steps are the gradients' signs, which rounding alone may flip.
  static Flags model() {
    return {"--num-layers", "4",   "--hidden-dropout",   "0.1", "--attention-dropout", "0.1",
            "--optimizer",  "sgd", "--micro-batch-size", "1"};
  }
};

TEST_P(LayoutTest, TrainsAsOneRankDoes) {
  for (const Flags& kind : {Flags{}, Flags{"--untie-embeddings-and-output-weights"}}) {
    expect_equal(run_layout(model() + kind + GetParam().flags, GetParam().ranks),
                 run_layout(model() + kind, 1));
  }
}

/// Encoders, of which a T5 counts as many layers again.
class EncoderLayoutTest : public LayoutTest {};

TEST_P(EncoderLayoutTest, TrainsAsOneRankDoes) {
  for (const Flags& kind :
       {Flags{"--model", "bert"}, Flags{"--model", "bert", "--bert-no-binary-head"},
        Flags{"--model", "t5", "--num-layers", "2", "--decoder-seq-length", "4"}}) {
    SCOPED_TRACE(::testing::PrintToString(kind));
    expect_equal(run_layout(model() + kind + GetParam().flags, GetParam().ranks),
                 run_layout(model() + kind, 1));
  }
}

Flags tensor(const char* size) {
  return {"--tensor-model-parallel-size", size};
}
Flags pipeline(const char* size) {
  return {"--pipeline-model-parallel-size", size};
}
const Flags kSequence = {"--sequence-parallel"};
const Flags kVirtual = {"--num-virtual-stages-per-pipeline-rank", "2"};
const Flags kSharded = {"--use-distributed-optimizer"};
const Flags kOverlap = {"--overlap-grad-reduce", "--ddp-bucket-size", "500"};

std::string name_of(const ::testing::TestParamInfo<Layout>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Pipeline, LayoutTest,
    ::testing::Values(
        Layout{"pp2", 2, pipeline("2")}, Layout{"pp4", 4, pipeline("4")},
        Layout{"pp2_vpp2", 2, pipeline("2") + kVirtual},
        Layout{"pp2_uneven", 2, pipeline("2") + Flags{"--decoder-first-pipeline-num-layers", "1"}},
        Layout{"pp2_layout", 2,
               pipeline("2") + Flags{"--pipeline-model-parallel-layout", "E|tt|t|tL"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Data, LayoutTest,
    ::testing::Values(Layout{"dp2", 2, {}}, Layout{"dp8", 8, {}},
                      Layout{"dp4_overlap", 4, kOverlap},

                      Layout{"dp2_sharded", 2, kSharded}, Layout{"dp4_sharded", 4, kSharded},
                      Layout{"dp4_sharded_overlap", 4,
                             kSharded + kOverlap + Flags{"--overlap-param-gather"}},
                      Layout{"dp4_two_instances", 4,
                             kSharded + Flags{"--num-distributed-optimizer-instances", "2"}}),
    name_of);

Flags schedule(const char* kind) {
  return {"--pipeline-schedule", kind};
}
const Flags kRecompute = {"--recompute-granularity", "full", "--recompute-method", "uniform",
                          "--recompute-num-layers",  "2"};

INSTANTIATE_TEST_SUITE_P(
    ZeroBubble, LayoutTest,
    ::testing::Values(Layout{"pp2", 2, pipeline("2") + schedule("zero-bubble")},
                      Layout{"pp4", 4, pipeline("4") + schedule("zero-bubble")},
                      Layout{"pp2_tp2_sp", 4,
                             pipeline("2") + tensor("2") + kSequence + schedule("zero-bubble")},
                      Layout{"pp2_dp2_sharded_overlap", 4,
                             pipeline("2") + kSharded + kOverlap + schedule("zero-bubble")}),
    name_of);

/// Weights' gradients wait, but are added in the same order.
class DeferredWeights : public LayoutTest {};

TEST_P(DeferredWeights, ChangeNoBit) {
  const auto& [name, ranks, flags] = GetParam();
  for (const Flags& kind : {Flags{}, Flags{"--untie-embeddings-and-output-weights", "--bf16"}}) {
    const Flags layout = model() + kind + pipeline("2") + flags;
    const LayoutOutcome at_once = run_layout(layout + schedule("1f1b"), ranks);
    expect_same_bits(run_layout(layout + schedule("zero-bubble"), ranks), at_once);
    EXPECT_EQ(at_once.losses.size(), 2u);
  }
}

class DeferredOutput : public LayoutTest {};

TEST_P(DeferredOutput, ChangesNoBit) {
  const auto& [name, ranks, flags] = GetParam();
  for (const Flags& kind : {Flags{}, Flags{"--untie-embeddings-and-output-weights"}}) {
    const Flags layout = model() + kind + pipeline("2") + flags;
    const LayoutOutcome at_once = run_layout(layout, ranks);
    for (const char* limit : {"0", "1", "3"}) {
      const Flags deferred{"--defer-embedding-wgrad-compute", "--wgrad-deferral-limit", limit};
      SCOPED_TRACE(limit);
      expect_same_bits(run_layout(layout + deferred, ranks), at_once);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, DeferredOutput,
                         ::testing::Values(Layout{"pp2", 2, {}}, Layout{"pp2_vpp2", 2, kVirtual},
                                           Layout{"tp2_sp", 4, tensor("2") + kSequence},
                                           Layout{"dp2_sharded_overlap", 4, kSharded + kOverlap}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Layouts, DeferredWeights,
    ::testing::Values(
        Layout{"pp2", 2, {}}, Layout{"recompute", 2, kRecompute},
        Layout{"bias_everywhere", 2, {"--add-qkv-bias"}},
        Layout{"tp2_sp", 4, tensor("2") + kSequence},
        Layout{"tp2_sp_overlap", 4, tensor("2") + kSequence + Flags{"--tp-comm-overlap"}},
        Layout{"cp2", 4, {"--context-parallel-size", "2"}}, Layout{"dp2_overlap", 4, kOverlap},
        Layout{"dp2_sharded_overlap", 4, kSharded + kOverlap + Flags{"--overlap-param-gather"}}),
    name_of);

Flags fully_sharded(const char* strategy) {
  return {"--use-megatron-fsdp", "--data-parallel-sharding-strategy", strategy};
}

/// A bucket's values are final when its pieces are updated.
class GatherInStep : public LayoutTest {};

TEST_P(GatherInStep, ChangesNoBit) {
  const Flags flags = model() + GetParam().flags + kSharded + kOverlap;
  const LayoutOutcome behind =
      run_layout(flags + Flags{"--overlap-param-gather"}, GetParam().ranks);
  const Flags during{"--overlap-param-gather", "--overlap-param-gather-with-optimizer-step"};
  expect_same_bits(run_layout(flags + during, GetParam().ranks), behind);
}

INSTANTIATE_TEST_SUITE_P(Layouts, GatherInStep,
                         ::testing::Values(Layout{"dp2", 2, {}}, Layout{"dp8_bf16", 8, {"--bf16"}},
                                           Layout{"dp4_two_instances",
                                                  4,
                                                  {"--num-distributed-optimizer-instances", "2"}},
                                           Layout{"tp2_pp2_dp2", 8, tensor("2") + pipeline("2")}),
                         name_of);

const Flags kHybrid = {"--num-distributed-optimizer-instances", "2",
                       "--enable-full-sharding-in-hsdp"};

INSTANTIATE_TEST_SUITE_P(
    FullySharded, LayoutTest,
    ::testing::Values(
        Layout{"dp4_optimizer", 4, fully_sharded("optim")},
        Layout{"dp4_gradients", 4, fully_sharded("optim_grads")},
        Layout{"dp4_parameters", 4, fully_sharded("optim_grads_params")},
        Layout{"dp2_parameters_overlap_recompute", 2,
               fully_sharded("optim_grads_params") + kRecompute +
                   Flags{"--overlap-grad-reduce", "--overlap-param-gather"}},
        Layout{"dp4_parameters_in_two_instances", 4,
               fully_sharded("optim_grads_params") +
                   Flags{"--num-distributed-optimizer-instances", "2"}},
        Layout{"dp4_parameters_all_shared", 4, fully_sharded("optim_grads_params") + kHybrid},
        Layout{"dp8_gradients_all_shared", 8, fully_sharded("optim_grads") + kHybrid},
        Layout{"tp2_sp_dp2_parameters", 4,
               tensor("2") + kSequence + fully_sharded("optim_grads_params")},
        Layout{"pp2_dp2_gradients", 4, pipeline("2") + fully_sharded("optim_grads") + kOverlap},
        Layout{"pp2_dp4_parameters_all_shared", 8,
               pipeline("2") + fully_sharded("optim_grads_params") + kHybrid},
        Layout{
            "pp2_vpp2_dp2_parameters_overlap_recompute", 4,
            pipeline("2") + kVirtual + fully_sharded("optim_grads_params") + kRecompute + kOverlap},
        Layout{"pp4_dp2_parameters_deferred_outputs", 8,
               pipeline("4") + fully_sharded("optim_grads_params") +
                   Flags{"--defer-embedding-wgrad-compute"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Tensor, LayoutTest,
    ::testing::Values(Layout{"tp2", 2, tensor("2")}, Layout{"tp4", 4, tensor("4")},
                      Layout{"tp2_sp", 2, tensor("2") + kSequence},
                      Layout{"tp4_sp", 4, tensor("4") + kSequence},
                      Layout{"tp4_sp_overlap", 4,
                             tensor("4") + kSequence + Flags{"--tp-comm-overlap"}}),
    name_of);

Flags context(const char* size, const char* exchange) {
  return {"--context-parallel-size", size, "--cp-comm-type", exchange};
}

INSTANTIATE_TEST_SUITE_P(
    Context, LayoutTest,
    ::testing::Values(
        Layout{"cp2_ring", 2, context("2", "p2p")}, Layout{"cp4_ring", 4, context("4", "p2p")},
        Layout{"cp2_gathered", 2, context("2", "all_gather")},
        Layout{"cp4_heads", 4, context("4", "a2a")},
        Layout{"cp4_heads_in_ring", 4,
               context("4", "a2a+p2p") + Flags{"--hierarchical-context-parallel-sizes", "2", "2"}},
        Layout{"cp2_tp2_sp", 4, context("2", "p2p") + tensor("2") + kSequence},
        Layout{"cp2_pp2_dp2_sharded", 8, context("2", "p2p") + pipeline("2") + kSharded}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Mixed, LayoutTest,
    ::testing::Values(Layout{"tp2_pp2", 4, tensor("2") + pipeline("2")},
                      Layout{"tp2_sp_pp2_vpp2", 4,
                             tensor("2") + kSequence + pipeline("2") + kVirtual},
                      Layout{"dp2_pp2_sharded_overlap", 4, pipeline("2") + kSharded + kOverlap},
                      Layout{"tp2_sp_dp2_sharded", 4, tensor("2") + kSequence + kSharded},
                      Layout{"tp2_sp_pp2_dp2_sharded", 8,
                             tensor("2") + kSequence + pipeline("2") + kSharded + kOverlap},
                      Layout{"tp2_pp2_dp2_mapped", 8,
                             tensor("2") + pipeline("2") + Flags{"--use-tp-pp-dp-mapping"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Encoders, EncoderLayoutTest,
    ::testing::Values(
        Layout{"tp2", 2, tensor("2")}, Layout{"tp4_sp", 4, tensor("4") + kSequence},
        Layout{"pp4", 4, pipeline("4")}, Layout{"pp2_vpp2", 2, pipeline("2") + kVirtual},
        Layout{"pp2_zero_bubble", 2, pipeline("2") + Flags{"--pipeline-schedule", "zero-bubble"}},
        Layout{"dp4_sharded", 4, kSharded + kOverlap},
        Layout{"dp2_fully_sharded", 2,
               Flags{"--use-megatron-fsdp", "--data-parallel-sharding-strategy",
                     "optim_grads_params", "--use-distributed-optimizer"}},
        Layout{"tp2_sp_pp2_dp2", 8, tensor("2") + kSequence + pipeline("2") + kSharded}),
    name_of);

TEST(RelativePositions, AreTheSameOnTensorRanks) {
  const Flags t5 = {"--model",
                    "t5",
                    "--decoder-seq-length",
                    "4",
                    "--position-embedding-type",
                    "relative",
                    "--relative-attention-num-buckets",
                    "8",
                    "--relative-attention-max-distance",
                    "6",
                    "--optimizer",
                    "sgd",
                    "--micro-batch-size",
                    "1"};
  const LayoutOutcome alone = run_layout(t5, 1);
  expect_equal(run_layout(t5 + tensor("2"), 2), alone);
  expect_equal(run_layout(t5 + tensor("2") + kSequence, 2), alone);
  expect_equal(run_layout(t5 + kSharded, 4), alone);
}

}  // namespace layout_run_test
}  // namespace mpitron::train
