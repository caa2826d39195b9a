#include <map>

#include <gtest/gtest.h>

#include "train/layout_cases.h"

// Models with experts train alike in every layout: loss, gradient norm and weights agree with one
// rank, with dropout on.

namespace mpitron::train {
namespace expert_layout_test {

Flags model() {
  return {"--num-layers",
          "4",
          "--hidden-dropout",
          "0.1",
          "--attention-dropout",
          "0.1",
          "--optimizer",
          "sgd",
          "--micro-batch-size",
          "1",
          "--disable-bias-linear",
          "--ffn-hidden-size",
          "32",
          "--num-experts",
          "4",
          "--moe-ffn-hidden-size",
          "24"};
}

/// Both losses of the router, and an expert that all tokens visit.
const Flags kBalanced = {"--moe-aux-loss-coeff",
                         "0.1",
                         "--moe-z-loss-coeff",
                         "0.01",
                         "--moe-shared-expert-intermediate-size",
                         "16"};
/// Gated experts in every second layer, balanced by biases; computed twice.
const Flags kBiased = {"--moe-layer-freq",
                       "2",
                       "--moe-router-score-function",
                       "sigmoid",
                       "--moe-router-enable-expert-bias",
                       "--moe-router-bias-update-rate",
                       "0.05",
                       "--swiglu",
                       "--recompute-granularity",
                       "selective",
                       "--recompute-modules",
                       "moe"};
/// Every sequence balanced by itself; losses counted by tokens.
const Flags kSequences = {"--moe-router-load-balancing-type",
                          "seq_aux_loss",
                          "--moe-aux-loss-coeff",
                          "0.1",
                          "--moe-router-pre-softmax",
                          "--calculate-per-token-loss"};

class ExpertLayoutTest : public ::testing::TestWithParam<Layout> {};

TEST_P(ExpertLayoutTest, TrainsAsOneRankDoes) {
  static std::map<Flags, LayoutOutcome> alone;  // of each kind, for all layouts of a process
  for (const Flags& kind : {kBalanced, kBiased, kSequences}) {
    if (!alone.contains(kind)) {
      alone[kind] = run_layout(model() + kind, 1);
    }
    expect_equal(run_layout(model() + kind + GetParam().flags, GetParam().ranks), alone.at(kind));
  }
}

Flags experts(const char* ranks, const char* tensor_ranks = "1") {
  return {"--expert-model-parallel-size", ranks, "--expert-tensor-parallel-size", tensor_ranks};
}
const Flags kAllToAll = {"--moe-token-dispatcher-type", "alltoall"};
const Flags kTensor = {"--tensor-model-parallel-size", "2", "--sequence-parallel"};
const Flags kContext = {"--context-parallel-size", "2"};
const Flags kPipeline = {"--pipeline-model-parallel-size", "2"};
const Flags kVirtual = {"--num-virtual-stages-per-pipeline-rank", "2"};
const Flags kSharded = {"--use-distributed-optimizer"};
const Flags kOverlap = {"--overlap-grad-reduce", "--ddp-bucket-size", "500"};
const Flags kInstances = {"--num-distributed-optimizer-instances", "2"};

Flags fully_sharded(const char* strategy) {
  return {"--use-megatron-fsdp", "--data-parallel-sharding-strategy", strategy};
}

std::string name_of(const ::testing::TestParamInfo<Layout>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Experts, ExpertLayoutTest,
    ::testing::Values(Layout{"ep2", 2, experts("2")},
                      Layout{"ep2_alltoall", 2, experts("2") + kAllToAll},
                      Layout{"ep4_alltoall", 4, experts("4") + kAllToAll},
                      Layout{"etp2", 2, experts("1", "2")},
                      Layout{"etp2_alltoall", 2, experts("1", "2") + kAllToAll},
                      Layout{"ep2_etp2", 4, experts("2", "2")},
                      Layout{"ep4_etp2_alltoall", 8, experts("4", "2") + kAllToAll}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Folded, ExpertLayoutTest,
    ::testing::Values(
        Layout{"tp2_sp", 2, kTensor}, Layout{"tp2_sp_alltoall", 2, kTensor + kAllToAll},
        Layout{"tp2_sp_ep2", 2, kTensor + experts("2")},
        Layout{"tp2_sp_ep2_etp2_alltoall", 4, kTensor + experts("2", "2") + kAllToAll},
        Layout{"tp2_sp_etp1", 2, kTensor + experts("1")},
        Layout{"cp2_ep2_alltoall", 2, kContext + experts("2") + kAllToAll},
        Layout{"tp2_sp_cp2_ep4", 4, kTensor + kContext + experts("4")},
        Layout{"pp2_ep2_alltoall", 4, kPipeline + experts("2") + kAllToAll},
        Layout{"pp2_vpp2_tp2_sp_ep2", 4, kPipeline + kVirtual + kTensor + experts("2")},
        Layout{"pp2_zero_bubble_ep2", 4,
               kPipeline + experts("2") + Flags{"--pipeline-schedule", "zero-bubble"}},
        Layout{"tp2_sp_pp2_ep2_mapped", 8,
               kTensor + kPipeline + experts("2") + kAllToAll + Flags{"--use-tp-pp-dp-mapping"}},
        Layout{"tp2_sp_cp2_pp2_ep2_etp2", 8, kTensor + kContext + kPipeline + experts("2", "2")}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Sharded, ExpertLayoutTest,
    ::testing::Values(
        Layout{"ep2_dp4", 4, experts("2") + kSharded},
        Layout{"ep2_dp4_overlap_alltoall", 4,
               experts("2") + kAllToAll + kSharded + kOverlap + Flags{"--overlap-param-gather"}},
        Layout{"ep2_dp4_gathered_in_step", 4,
               experts("2") + kSharded + kOverlap +
                   Flags{"--overlap-param-gather", "--overlap-param-gather-with-optimizer-step"}},
        Layout{"ep2_dp4_two_instances", 4, experts("2") + kSharded + kInstances},
        Layout{"ep2_gradients", 4, experts("2") + fully_sharded("optim_grads")},
        Layout{"ep2_parameters", 4, experts("2") + fully_sharded("optim_grads_params")},
        Layout{"ep2_parameters_overlap_alltoall", 4,
               experts("2") + kAllToAll + fully_sharded("optim_grads_params") + kOverlap +
                   Flags{"--overlap-param-gather"}},
        Layout{"ep2_parameters_all_shared", 8,
               experts("2") + fully_sharded("optim_grads_params") + kInstances +
                   Flags{"--enable-full-sharding-in-hsdp"}},
        Layout{"pp2_ep2_parameters", 4,
               experts("2") + fully_sharded("optim_grads_params") + kOverlap +
                   Flags{"--pipeline-model-parallel-size", "2"}},
        Layout{"tp2_sp_ep2_dp2", 4, kTensor + experts("2") + kSharded}),
    name_of);

/// Experts on several ranks or one: bits depend on neither timing nor transport, so a layout
/// repeats to the last bit.
TEST(ExpertLayout, RepeatsBitForBit) {
  for (const Flags& dispatcher : {Flags{}, kAllToAll}) {
    const Flags flags = model() + kBalanced + experts("2", "2") + dispatcher + Flags{"--bf16"};
    expect_same_bits(run_layout(flags, 4), run_layout(flags, 4));
  }
}

/// Each trap alone, on the layouts that would show it.
class ExpertTraps : public ::testing::Test {
 protected:
  static void expect_layouts(const Flags& flags) {
    const LayoutOutcome alone = run_layout(model() + flags, 1);
    for (const Flags& layout : {experts("2"), kTensor + experts("1"), kContext + experts("1", "2"),
                                kTensor + experts("1", "2") + kAllToAll}) {
      SCOPED_TRACE(::testing::PrintToString(layout));
      expect_equal(run_layout(model() + flags + layout, 2), alone);
    }
  }
};

/// Clipping makes a norm that counts experts twice, or not at all, show in the weights.
TEST_F(ExpertTraps, TheNormCountsEachExpertOnce) {
  expect_layouts({"--clip-grad", "0.01"});
}

/// The loss that balances is a mean over all tokens of a microbatch, whoever holds them.
TEST_F(ExpertTraps, AuxiliaryGradientsDoNotDependOnTensorAndContextRanks) {
  expect_layouts({"--moe-aux-loss-coeff", "10", "--clip-grad", "0"});
  expect_layouts({"--moe-z-loss-coeff", "1", "--clip-grad", "0"});
}

TEST_F(ExpertTraps, AuxiliaryGradientsDoNotDependOnHowMicrobatchesAreShared) {
  for (const Flags& loss : {Flags{}, Flags{"--calculate-per-token-loss"}}) {
    const Flags flags = model() + loss + Flags{"--moe-aux-loss-coeff", "10"};
    const LayoutOutcome alone = run_layout(flags, 1);  // eight microbatches
    expect_equal(run_layout(flags + experts("2"), 4), alone);
    expect_equal(run_layout(flags + experts("2"), 8), alone);
  }
}

TEST_F(ExpertTraps, AnExpertLayerMayBeComputedTwice) {
  const Flags recompute{"--recompute-granularity", "full", "--recompute-method", "uniform",
                        "--recompute-num-layers",  "1"};
  const LayoutOutcome once = run_layout(model() + kBalanced, 1);
  expect_equal(run_layout(model() + kBalanced + recompute, 1), once);
  expect_layouts(kBalanced + recompute);
}

/// The shared expert runs while tokens travel: sums of its input's gradients come in another order.
TEST_F(ExpertTraps, TheSharedExpertMayRunMeanwhile) {
  const Flags flags = kBalanced + kAllToAll;
  const LayoutOutcome alone = run_layout(model() + flags, 1);
  for (const Flags& layout : {experts("2"), kTensor + experts("1", "2")}) {
    expect_equal(run_layout(model() + flags + layout + Flags{"--moe-shared-expert-overlap"}, 2),
                 alone);
  }
}

/// An expert takes what it has room for; where samples are whole, every layout drops the same.
TEST_F(ExpertTraps, CapacityDropsTheSameVisits) {
  for (const Flags& pad : {Flags{}, Flags{"--moe-pad-expert-input-to-capacity"}}) {
    const Flags flags = model() + Flags{"--moe-expert-capacity-factor", "0.75"} + pad;
    const LayoutOutcome alone = run_layout(flags, 1);
    expect_equal(run_layout(flags + experts("2"), 2), alone);
    expect_equal(run_layout(flags + experts("2", "2") + kAllToAll, 4), alone);
  }
}

/// Inner biases are cut as their weights, outer ones and the router's lie whole on their ranks.
TEST_F(ExpertTraps, ExpertsMayHaveBiases) {
  Flags flags = model() + Flags{"--quick-geglu", "--clip-grad", "0.01"};
  std::erase(flags, "--disable-bias-linear");
  const LayoutOutcome alone = run_layout(flags, 1);
  expect_equal(run_layout(flags + experts("2") + kAllToAll, 2), alone);
  expect_equal(run_layout(flags + kTensor + experts("1") + kSharded, 4), alone);
  expect_equal(run_layout(flags + experts("1", "2"), 2), alone);
  expect_equal(run_layout(flags + kTensor + experts("2", "2") + kAllToAll + kSharded, 4), alone);
}

/// With one expert for each token most experts get none in a microbatch.
TEST_F(ExpertTraps, ExpertsWithoutTokensTakePart) {
  expect_layouts({"--moe-router-topk", "1", "--moe-router-pre-softmax", "--num-experts", "16"});
}

}  // namespace expert_layout_test
}  // namespace mpitron::train
