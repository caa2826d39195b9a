#include "checkpoint/folders/folder.h"
#include "checkpoint/tools/inspection.h"
#include "train/checkpoint_run.h"

// Latent attention, multi-token prediction and mixers with a state in layouts that cut them: the
// same training, the same bits after a resume, and checkpoints that go from one layout to another.
// every_layout_test draws from all layouts.

namespace mpitron::train {
namespace layer_kinds_test {

// SGD: Adam's first steps are the gradients' signs, which rounding alone may flip.
Flags model() {
  return {"--num-layers", "4",   "--hidden-dropout",   "0.1", "--attention-dropout",       "0.1",
          "--optimizer",  "sgd", "--micro-batch-size", "1",   "--position-embedding-type", "rope"};
}
Flags latent() {
  return model() + Flags{"--multi-latent-attention",
                         "--q-lora-rank",
                         "6",
                         "--kv-lora-rank",
                         "5",
                         "--qk-head-dim",
                         "3",
                         "--qk-pos-emb-head-dim",
                         "2",
                         "--v-head-dim",
                         "7",
                         "--qk-layernorm",
                         "--normalization",
                         "RMSNorm",
                         "--disable-bias-linear"};
}
Flags indexer() {
  return {"--dsa-indexer-n-heads", "3", "--dsa-indexer-head-dim",   "8",
          "--dsa-indexer-topk",    "4", "--dsa-indexer-loss-coeff", "0.5"};
}
Flags sparse() {
  return latent() + indexer() + Flags{"--experimental-attention-variant", "dsa"};
}
Flags sparse_letters() {
  return latent() + indexer() + Flags{"--model", "mamba", "--hybrid-layer-pattern", "D-D+"};
}
Flags predictions() {
  return model() + Flags{"--mtp-num-layers", "2"};
}
Flags both() {
  return latent() + Flags{"--mtp-num-layers", "1", "--untie-embeddings-and-output-weights"};
}

Flags mamba() {
  return model() + Flags{"--model",           "mamba", "--hybrid-layer-pattern", "M*-M",
                         "--mamba-head-dim",  "4",     "--mamba-num-groups",     "4",
                         "--mamba-state-dim", "3",     "--is-hybrid-model"};
}
const Flags kDeltaHeads{"--linear-num-key-heads",
                        "4",
                        "--linear-num-value-heads",
                        "8",
                        "--linear-key-head-dim",
                        "3",
                        "--linear-value-head-dim",
                        "2",
                        "--swiglu",
                        "--ffn-hidden-size",
                        "12"};
Flags delta_nets() {
  return model() + kDeltaHeads +
         Flags{"--experimental-attention-variant",
               "gated_delta_net",
               "--linear-attention-freq",
               "2",
               "--normalization",
               "RMSNorm",
               "--disable-bias-linear"};
}

// Weights of norms as they are: stored as what they are beyond 1, two steps old, they would be
// gradients, of which the fp64 layouts of models are the test.
Flags gemma() {
  return model() + Flags{"--geglu",
                         "--post-self-attn-layernorm",
                         "--post-mlp-layernorm",
                         "--scale-embeddings",
                         "--window-size",
                         "3,0",
                         "--window-attn-skip-freq",
                         "2",
                         "--rotary-base-local",
                         "100",
                         "--query-pre-attn-scalar",
                         "5",
                         "--attn-logit-softcapping",
                         "0.5",
                         "--final-logit-softcapping",
                         "0.5",
                         "--normalization",
                         "RMSNorm",
                         "--disable-bias-linear"};
}

Flags llama4() {
  return model() + Flags{"--no-rope-freq",      "2",       "--attention-chunk-size", "5",
                         "--query-scale-floor", "3",       "--query-scale-growth",   "0.5",
                         "--normalization",     "RMSNorm", "--disable-bias-linear"};
}

// Without biases: Adam takes them, and those of keys have gradients of rounding alone.
Flags muon() {
  return mamba() +
         Flags{"--optimizer", "muon", "--muon-fp32-matmul-prec", "high", "--disable-bias-linear"};
}

std::vector<Flags> all_kinds() {
  return {latent(), predictions(), both(), mamba(), delta_nets(), gemma(), llama4()};
}

std::string name_of(const ::testing::TestParamInfo<Layout>& info) {
  return info.param.name;
}

Flags tensor(const char* size) {
  return {"--tensor-model-parallel-size", size};
}
Flags pipeline(const char* size) {
  return {"--pipeline-model-parallel-size", size};
}
Flags context(const char* size) {
  return {"--context-parallel-size", size};
}
const Flags kSequence{"--sequence-parallel"};
const Flags kSharded{"--use-distributed-optimizer"};
const Flags kFully{"--use-megatron-fsdp", "--data-parallel-sharding-strategy",
                   "optim_grads_params"};

class LayerKinds : public ::testing::TestWithParam<Layout> {};

TEST_P(LayerKinds, TrainAsOnOneRank) {
  for (const Flags& kind : all_kinds()) {
    SCOPED_TRACE(::testing::PrintToString(kind));
    expect_equal(run_layout(kind + GetParam().flags, GetParam().ranks), run_layout(kind, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, LayerKinds,
    ::testing::Values(
        Layout{"tp2", 2, tensor("2")}, Layout{"tp4_sp", 4, tensor("4") + kSequence},
        Layout{"pp2", 2, pipeline("2")},
        Layout{"pp2_vpp2_tp2_sp", 4,
               pipeline("2") + tensor("2") + kSequence +
                   Flags{"--num-virtual-stages-per-pipeline-rank", "2"}},
        Layout{"pp2_zero_bubble", 2, pipeline("2") + Flags{"--pipeline-schedule", "zero-bubble"}},
        Layout{"cp2", 2, context("2")}, Layout{"cp4_pp2", 8, context("4") + pipeline("2")},
        Layout{"cp2_a2a_tp2", 4, context("2") + tensor("2") + Flags{"--cp-comm-type", "a2a"}},
        Layout{"cp2_all_gather", 2, context("2") + Flags{"--cp-comm-type", "all_gather"}},
        Layout{"dp2_sharded_pp2", 4, pipeline("2") + kSharded},
        // The last stage, which predicts more tokens, shards the word table as the first one does.
        Layout{"dp2_sharded_buckets_pp2_vpp2", 4,
               pipeline("2") + kSharded +
                   Flags{"--num-virtual-stages-per-pipeline-rank", "2", "--overlap-grad-reduce",
                         "--ddp-bucket-size", "500"}},
        Layout{"fully_sharded_dp2_tp2", 4, tensor("2") + kFully}),
    name_of);

/// Each kind of the indexer's loss; the letters of a hybrid, whose documents hide each other.
TEST(LayerKinds, SparseAttentionTrainsAsOnOneRank) {
  const Flags hybrid =
      sparse_letters() + Flags{"--reset-attention-mask", "--dsa-indexer-use-sparse-loss",
                               "--calculate-per-token-loss"};
  for (const Flags& kind : {sparse(), hybrid}) {
    SCOPED_TRACE(::testing::PrintToString(kind));
    const LayoutOutcome alone = run_layout(kind, 1);
    for (const Flags& layout :
         {tensor("2"), tensor("2") + kSequence, pipeline("2"), kSharded, kFully}) {
      expect_equal(run_layout(kind + layout, 2), alone);
    }
    expect_equal(run_layout(kind + Flags{"--recompute-granularity", "full", "--recompute-method",
                                         "uniform", "--recompute-num-layers", "1"},
                            1),
                 alone);
  }
}

/// Without the mean over microbatches; tokens count once, wherever they lie.
TEST(LayerKinds, PerTokenLossOfPredictionsIsThatOfOneRank) {
  const Flags kind = predictions() + Flags{"--calculate-per-token-loss"};
  const LayoutOutcome alone = run_layout(kind, 1);
  for (const Flags& layout : {context("2"), pipeline("2"), Flags{}}) {
    expect_equal(run_layout(kind + layout, 2), alone);
  }
}

TEST(LayerKinds, TheLastStageNamedInALayoutStringPredicts) {
  const Flags named{"--pipeline-model-parallel-layout", "Et|tt|t|mmL"};
  expect_equal(run_layout(predictions() + pipeline("2") + named, 2), run_layout(predictions(), 1));
}

/// Fewer groups than context ranks: neighbours have the same B and C.
TEST(LayerKinds, ContextRanksShareAGroup) {
  const Flags kind = mamba() + Flags{"--mamba-num-groups", "2"};
  expect_equal(run_layout(kind + context("4"), 4), run_layout(kind, 1));
  expect_equal(run_layout(kind + context("2") + tensor("2"), 4), run_layout(kind, 1));
}

TEST(LayerKinds, BarsOfAPatternCutThePipeline) {
  const auto kind = [](const char* pattern) {
    return mamba() + Flags{"--hybrid-layer-pattern", pattern};
  };
  const LayoutOutcome alone = run_layout(kind("M*-M/M"), 1);
  expect_equal(run_layout(kind("M*-|M/M") + pipeline("2"), 2), alone);
  expect_equal(run_layout(kind("M|*||-M/M") + pipeline("2"), 2), alone);
  expect_equal(run_layout(kind("M|*||-M/M"), 1), alone);
}

/// The largest scores are those of all ranks' heads and samples, of keys in the same document or
/// chunk; a low threshold has every group clipped.
TEST(LayerKinds, ScoresAreClippedAsOnOneRank) {
  const Flags clip{"--qk-clip", "--qk-clip-threshold", "0.01"};
  for (const Flags& kind :
       {latent() + clip, llama4() + clip, model() + clip + Flags{"--reset-attention-mask"}}) {
    SCOPED_TRACE(::testing::PrintToString(kind));
    const LayoutOutcome alone = run_layout(kind, 1);
    for (const Flags& layout : {tensor("2"), context("2"), kSharded}) {
      expect_equal(run_layout(kind + layout, 2), alone);
    }
  }
}

/// The update of a matrix does not depend on who holds its pieces.
TEST(LayerKinds, MuonTrainsAsOnOneRank) {
  const LayoutOutcome alone = run_layout(muon(), 1);
  for (const Flags& layout : {Flags{}, tensor("2"), pipeline("2"), kSharded, kFully,
                              kSharded + Flags{"--ddp-bucket-size", "500"}}) {
    expect_equal(run_layout(muon() + layout, 2), alone);
  }
  expect_equal(run_layout(muon() + tensor("2") + kSequence + kSharded, 4), alone);
}

/// Nor does what is kept of a whole matrix.
TEST(LayerKinds, AdaptiveMuonTrainsAsOnOneRank) {
  const Flags adaptive{"--optimizer", "adaptive_muon", "--lr", "0.0005"};
  for (const Flags& rule :
       {adaptive, adaptive + Flags{"--adaptive-muon-moment2-method", "normuon"}}) {
    SCOPED_TRACE(::testing::PrintToString(rule));
    const LayoutOutcome alone = run_layout(muon() + rule, 1);
    expect_equal(run_layout(muon() + rule + kSharded + Flags{"--ddp-bucket-size", "500"}, 2),
                 alone);
    expect_equal(run_layout(muon() + rule + tensor("2") + kSequence + kSharded, 4), alone);
  }
}

/// SOAP's second update magnifies rounding of gradients (docs/numerics.md). At this rate an update
/// changes weights by 2.5e-3; layouts stay within a 25th of that, which pieces of a matrix that are
/// taken for the whole do not.
TEST(LayerKinds, SoapTrainsAsOnOneRank) {
  constexpr double kOfWeights = 1e-4;
  const Flags soap = muon() + Flags{"--optimizer", "soap", "--lr", "0.00005"};
  const LayoutOutcome alone = run_layout(soap, 1);
  expect_equal(run_layout(soap + kSharded + Flags{"--ddp-bucket-size", "500"}, 2), alone,
               kOfWeights);
  expect_equal(run_layout(soap + tensor("2") + kSequence + kSharded, 4), alone, kOfWeights);
}

/// Saved in one layout, loaded and saved in another: the same checkpoint.
TEST(LayerKinds, CheckpointsGoFromLayoutToLayout) {
  const Layout from{"", 4, tensor("2") + kSequence + pipeline("2")},
      to{"", 4, context("2") + kFully};
  std::vector<Flags> kinds = all_kinds();
  kinds.push_back(muon() + Flags{"--optimizer", "soap"});
  for (const Flags& kind : kinds) {
    const test::TemporaryFolder folder;
    const std::string in_a = (folder.path() / "a").string(), in_b = (folder.path() / "b").string();
    const RunRecord first =
        run_with_checkpoints(kind + from.flags + Flags{"--save", in_a}, from.ranks, 3, {2});
    const RunRecord second = run_with_checkpoints(
        kind + to.flags + Flags{"--load", in_a, "--save", in_b}, to.ranks, 3, {2});
    ASSERT_EQ(second.start, 2);
    EXPECT_NEAR(second.losses.back(), first.losses.back(), 1e-6 * first.losses.back());
    const checkpoint::File file_a(checkpoint::Folder(in_a).file(2));
    const checkpoint::File file_b(checkpoint::Folder(in_b).file(2));
    for (const checkpoint::Difference& difference : checkpoint::differences(file_a, file_b)) {
      ADD_FAILURE() << difference.name << " " << difference.what;
    }
  }
}

/// An interrupted run ends with the bits of one that was not: every kind of layer, and rules with
/// and without state of whole matrices.
TEST(LayerKinds, AResumeChangesNoBit) {
  const Flags layout = pipeline("2") + tensor("2") + kSequence + Flags{"--num-layers", "2"};
  const Flags letters = muon() + Flags{"--hybrid-layer-pattern", "MG"} + kDeltaHeads;
  const Flags adaptive{"--optimizer", "adaptive_muon"}, soap{"--optimizer", "soap"};
  for (const Flags& kind : {both(), letters + adaptive, letters + soap, sparse()}) {
    const test::TemporaryFolder folder;
    const Flags save{"--save", folder.path()}, load{"--load", folder.path()};
    run_with_checkpoints(kind + layout + save, 4, 1, {1});
    const RunRecord rest = run_with_checkpoints(kind + layout + save + load, 4, 2);
    const RunRecord whole = run_with_checkpoints(kind + layout + save, 4, 2);
    ASSERT_EQ(rest.start, 1);
    EXPECT_EQ(rest.losses.back(), whole.losses.back());
    EXPECT_EQ(rest.state, whole.state);
  }
}

}  // namespace layer_kinds_test
}  // namespace mpitron::train
