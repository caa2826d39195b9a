#include <fmt/ranges.h>

#include "checkpoint/folders/folder.h"
#include "checkpoint/tools/inspection.h"
#include "train/model/fp8_runs.h"

// Experts whose products take factors of 8 bits: by every recipe, in every layout, saved, resumed
// and moved between ranks.

namespace mpitron::train {
namespace fp8_experts_test {

const Flags kExperts = {"--disable-bias-linear", "--swiglu", "--num-experts",        "4",
                        "--moe-ffn-hidden-size", "24",       "--moe-aux-loss-coeff", "0.1",
                        "--micro-batch-size",    "1",        "--ffn-hidden-size",    "32"};
const Flags kShared = {"--moe-shared-expert-intermediate-size", "16"};
const Flags kAllToAll = {"--moe-token-dispatcher-type", "alltoall"};
const Flags kTensor = {"--tensor-model-parallel-size", "2", "--sequence-parallel"};

Flags experts(const char* ranks, const char* tensor_ranks = "1") {
  return {"--expert-model-parallel-size", ranks, "--expert-tensor-parallel-size", tensor_ranks};
}
std::string text(const Flags& flags) {
  return fmt::format("{}", fmt::join(flags, " "));
}

TEST(Fp8Experts, EveryRecipeFollowsBf16AndRepeatsBitForBit) {
  const auto device = device::make_device("host");
  const Flags model = kExperts + kShared + Flags{"--lr", "0.002"};
  const std::vector<double> in_bf16 = losses(*device, model + Flags{"--bf16"}, 20);
  for (const Flags& recipe : {kHistories, kTensorwise, kBlockwise}) {
    const std::vector<double> in_fp8 = losses(*device, model + recipe, 20);
    EXPECT_NE(in_fp8, in_bf16);
    for (std::size_t i = 0; i < in_fp8.size(); ++i) {
      EXPECT_NEAR(in_fp8[i] / in_bf16[i], 1, 0.05) << recipe.back() << ", step " << i + 1;
    }
    EXPECT_EQ(losses(*device, model + recipe, 4), std::vector(in_fp8.begin(), in_fp8.begin() + 4));
  }
}

TEST(Fp8Experts, ExpertsAndSharedExpertsTakePartButRoutersDoNot) {
  const auto device = device::make_device("host");
  TinyTraining training(*device, tiny_run(kExperts + kShared + kHybrid +
                                          Flags{"--num-layers", "3", "--first-last-layers-bf16"}));
  for (const autograd::Parameter& parameter : training.model.parameters()) {
    const bool linear = parameter.name.find(".linear_") != std::string::npos;
    EXPECT_EQ(parameter.fp8.has_value(),
              linear && parameter.name.ends_with(".weight") && parameter.placement.unit == 2)
        << parameter.name;
  }
}

/// The largest values of an expert are those of all ranks that have a part of it, and of no other
/// expert's.
TEST(Fp8Experts, RanksRememberTheLargestValuesOfTheirExperts) {
  const Flags many =
      kExperts + Flags{"--num-experts", "8", "--moe-router-topk", "1", "--moe-router-pre-softmax"};
  const Histories alone = histories(many, 1).front();
  EXPECT_EQ(alone.size(), 4u + 2 * 2 * 8);
  for (const Flags& layout : {Flags{}, experts("2"), experts("2") + kAllToAll}) {
    for (const Histories& rank : histories(many + layout, 4)) {
      EXPECT_EQ(rank.size(), layout.empty() ? alone.size() : 4u + 2 * 2 * 4);
      for (const auto& [name, values] : rank) {
        EXPECT_EQ(values, alone.at(name)) << name << ", " << text(layout);
      }
    }
  }
  for (const Histories& shard : histories(many + experts("2", "2"), 4)) {
    for (const auto& [name, values] : shard) {
      for (const std::size_t place : {0, 3, 6}) {  // inputs, weights, gradients
        EXPECT_NEAR(values[place], alone.at(name)[place], 0.1f * alone.at(name)[place]) << name;
      }
    }
  }
}

TEST(Fp8Experts, DelayedScalesDependOnNoLayout) {
  const Flags model = kExperts + kShared + kHistories;
  const LayoutOutcome alone = run_layout(tiny_run(model), 4);
  const Flags whole{"--use-megatron-fsdp", "--data-parallel-sharding-strategy",
                    "optim_grads_params"};
  const std::pair<Index, Flags> layouts[] = {
      {2, experts("2")},
      {2, experts("2") + kAllToAll + Flags{"--moe-shared-expert-overlap"}},
      {4, experts("2", "2") + kAllToAll},
      {4, experts("2") + Flags{"--use-distributed-optimizer"}},
      {4, experts("2") + whole},
      {2, kTensor + experts("2")},
      {2, kTensor + experts("1")},
      {2, experts("1", "2") + Flags{"--context-parallel-size", "2"}},
      {4, experts("2") + kAllToAll + Flags{"--pipeline-model-parallel-size", "2"}},
  };
  for (const auto& [ranks, layout] : layouts) {
    const LayoutOutcome other = run_layout(tiny_run(model + layout, ranks), 4);
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      EXPECT_NEAR(other.losses[i] / alone.losses[i], 1, 3e-3) << text(layout) << ", " << i + 1;
    }
  }
}

TEST(Fp8Experts, ComputedAgainOrLaterTheBitsAreTheSame) {
  const Flags once = kExperts + kAllToAll + experts("2");
  const Flags again[] = {
      {"--recompute-granularity", "selective", "--recompute-modules", "moe"},
      {"--recompute-granularity", "selective", "--recompute-modules", "moe_act"},
      {"--recompute-granularity", "full", "--recompute-method", "uniform", "--recompute-num-layers",
       "1"},
      {"--overlap-moe-expert-parallel-comm"},
      {"--overlap-moe-expert-parallel-comm", "--delay-wgrad-compute"},
  };
  for (const Flags& recipe : {kHistories, kTensorwise}) {
    const LayoutOutcome expected = run_layout(once + recipe, 2);
    for (const Flags& more : again) {
      SCOPED_TRACE(text(more));
      expect_same_bits(run_layout(once + recipe + more, 2), expected);
    }
  }
}

void expect_same_state(const std::string& folder_a, const std::string& folder_b) {
  const checkpoint::File a(checkpoint::Folder(folder_a).file(2));
  const checkpoint::File b(checkpoint::Folder(folder_b).file(2));
  for (const checkpoint::Difference& difference : checkpoint::differences(a, b)) {
    ADD_FAILURE() << difference.name << " " << difference.what;
  }
}

/// Each layout loads what the one before it saved and saves the same; two steps later the first one
/// is where it would have been without them.
TEST(Fp8Experts, HistoriesMoveBetweenRanksAndRunsGoOnBitForBit) {
  const Flags model = kExperts + kHistories;
  const Flags pair = experts("2") + kAllToAll;
  const std::pair<Index, Flags> layouts[] = {
      {2, pair},
      {1, {}},
      {4, experts("4")},
      {4, experts("2", "2")},
      {4, experts("2") + Flags{"--pipeline-model-parallel-size", "2"}},
      {2, pair},
  };
  const test::TemporaryFolder folder;
  int saved = 0;
  std::string before;
  RunRecord first, last;
  for (const auto& [ranks, layout] : layouts) {
    SCOPED_TRACE(text(layout));
    const std::string here = (folder.path() / std::to_string(saved++)).string();
    const Flags load = before.empty() ? Flags{} : Flags{"--load", before};
    last = run_with_checkpoints(model + layout + load + Flags{"--save", here}, ranks, 4, {2});
    if (before.empty()) {
      first = last;
    } else {
      ASSERT_EQ(last.start, 2);
      expect_same_state(before, here);
    }
    before = here;
  }
  EXPECT_EQ(last.losses.back(), first.losses.back());
  EXPECT_EQ(last.state, first.state);
}

}  // namespace fp8_experts_test
}  // namespace mpitron::train
