#include "checkpoint/folders/folder.h"
#include "checkpoint/tools/inspection.h"
#include "train/checkpoint_run.h"

// A checkpoint names experts by their global numbers: however the ranks share them, it is the same
// file, and training goes on from it in any other layout.

namespace mpitron::train {
namespace expert_reshard_test {

Flags model() {
  return {"--num-layers",
          "4",
          "--micro-batch-size",
          "1",
          "--hidden-dropout",
          "0.1",
          "--attention-dropout",
          "0.1",
          "--disable-bias-linear",
          "--swiglu",
          "--ffn-hidden-size",
          "32",
          "--num-experts",
          "4",
          "--moe-layer-freq",
          "2",
          "--moe-ffn-hidden-size",
          "24",
          "--moe-router-score-function",
          "sigmoid",
          "--moe-router-enable-expert-bias",
          "--moe-router-bias-update-rate",
          "0.01"};
}

Flags experts(const char* ranks, const char* tensor_ranks) {
  return {"--expert-model-parallel-size", ranks, "--expert-tensor-parallel-size", tensor_ranks};
}

struct Layout {
  Index ranks;
  Flags flags;
};

void expect_same_state(const std::string& folder_a, const std::string& folder_b) {
  const checkpoint::File a(checkpoint::Folder(folder_a).file(2));
  const checkpoint::File b(checkpoint::Folder(folder_b).file(2));
  for (const checkpoint::Difference& difference : checkpoint::differences(a, b)) {
    ADD_FAILURE() << difference.name << " " << difference.what;
  }
}

TEST(ExpertReshard, ExpertsMoveBetweenRanks) {
  const Flags sharded{"--use-distributed-optimizer"};
  const Layout layouts[] = {
      {1, {}},
      {4, experts("4", "1") + sharded},
      {4, experts("2", "1") + sharded},
      {4, experts("2", "2") + Flags{"--moe-token-dispatcher-type", "alltoall"}},
      {4, experts("2", "1") + Flags{"--pipeline-model-parallel-size", "2"}},
      {2, experts("1", "1") + Flags{"--tensor-model-parallel-size", "2", "--sequence-parallel"}},
  };
  const test::TemporaryFolder folder;
  std::string before;
  double loss = 0;
  for (const Layout& layout : layouts) {
    SCOPED_TRACE(::testing::PrintToString(layout.flags));
    const std::string here = (folder.path() / std::to_string(&layout - layouts)).string();
    const Flags load = before.empty() ? Flags{} : Flags{"--load", before};
    const RunRecord run = run_with_checkpoints(
        model() + layout.flags + load + Flags{"--save", here}, layout.ranks, 3, {2});
    if (before.empty()) {
      loss = run.losses.back();
    } else {
      ASSERT_EQ(run.start, 2);
      EXPECT_NEAR(run.losses.back(), loss, 1e-6 * loss);
      expect_same_state(before, here);
    }
    before = here;
  }
}

TEST(ExpertReshard, TheSameLayoutGoesOnBitForBit) {
  const Flags flags =
      model() + experts("2", "1") + Flags{"--moe-token-dispatcher-type", "alltoall"};
  const test::TemporaryFolder folder;
  const std::string saved = folder.path().string();
  const RunRecord whole = run_with_checkpoints(flags + Flags{"--save", saved}, 2, 4, {2});
  const RunRecord resumed = run_with_checkpoints(flags + Flags{"--load", saved}, 2, 4);
  ASSERT_EQ(resumed.start, 2);
  EXPECT_EQ(resumed.losses.back(), whole.losses.back());
  EXPECT_EQ(resumed.state, whole.state);
}

}  // namespace expert_reshard_test
}  // namespace mpitron::train
