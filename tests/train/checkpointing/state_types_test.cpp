#include "train/checkpoint_run.h"

// Adam's state in narrow types (--use-precision-aware-optimizer), through whole runs.

namespace mpitron::train {
namespace state_types_test {

const Flags kWhole = {"--bf16", "--use-distributed-optimizer", "--use-precision-aware-optimizer"};
const Flags kNarrow = kWhole + Flags{"--main-grads-dtype", "bf16", "--exp-avg-dtype", "fp8",
                                     "--exp-avg-sq-dtype", "fp16"};

/// Scales belong to blocks that no way of sharing cuts.
TEST(StateTypes, HowReplicasShareThemChangesNoBit) {
  const Flags narrow = kNarrow + Flags{"--main-params-dtype", "fp16"};
  const LayoutOutcome sharded = run_layout(narrow, 4);
  const Flags ways[] = {
      {"--ddp-bucket-size", "500", "--overlap-grad-reduce", "--overlap-param-gather"},
      {"--num-distributed-optimizer-instances", "2"},
      {"--use-megatron-fsdp", "--data-parallel-sharding-strategy", "optim_grads"},
      {"--use-megatron-fsdp", "--data-parallel-sharding-strategy", "optim_grads_params"}};
  for (const Flags& way : ways) {
    SCOPED_TRACE(::testing::PrintToString(way));
    const LayoutOutcome other = run_layout(narrow + way, 4);
    EXPECT_EQ(other.losses.front(), sharded.losses.front());
    // Elsewhere the bf16 gradients are added up in another order.
    if (way.front() == "--ddp-bucket-size") {
      expect_same_bits(other, sharded);
    } else {
      EXPECT_NEAR(other.losses.back(), sharded.losses.back(), 0.01);
    }
  }
}

TEST(StateTypes, Fp32GradientsHaveTheSameBitsFullySharded) {
  const Flags narrow = kWhole + Flags{"--exp-avg-dtype",    "fp8", "--exp-avg-sq-dtype", "fp8",
                                      "--micro-batch-size", "4"};  // one microbatch a rank
  const LayoutOutcome sharded = run_layout(narrow, 2);
  for (const char* strategy : {"optim_grads", "optim_grads_params"}) {
    expect_same_bits(run_layout(narrow + Flags{"--use-megatron-fsdp",
                                               "--data-parallel-sharding-strategy", strategy},
                                2),
                     sharded);
  }
}

TEST(StateTypes, LossesStayNearThoseOfFp32States) {
  const RunRecord plain = run_with_checkpoints({"--bf16", "--use-distributed-optimizer"}, 1, 12);
  const RunRecord whole = run_with_checkpoints(kWhole, 1, 12);
  const RunRecord narrow = run_with_checkpoints(kNarrow, 1, 12);
  for (std::size_t i = 0; i < plain.losses.size(); ++i) {
    EXPECT_NEAR(whole.losses[i], plain.losses[i], 1e-3 * plain.losses[i]) << i;
    EXPECT_NEAR(narrow.losses[i], plain.losses[i], 0.05 * plain.losses[i]) << i;
  }
}

/// A checkpoint has no types of state: whoever loads it stores it in its own.
TEST(StateTypes, ACheckpointOfAnyTypesLoadsIntoAnyOther) {
  const Flags plain = {"--bf16", "--use-distributed-optimizer"};
  const test::TemporaryFolder folder;
  const auto save = [&](const char* name) {
    return Flags{"--save", (folder.path() / name).string()};
  };
  const auto load = [&](const char* name) {
    return Flags{"--load", (folder.path() / name).string()};
  };
  const RunRecord expected = run_with_checkpoints(plain + save("plain"), 1, 5, {3});
  const RunRecord narrow =
      run_with_checkpoints(kNarrow + save("narrow") + load("plain"), 1, 5, {4});
  EXPECT_EQ(narrow.start, 3);
  EXPECT_NEAR(narrow.losses.back(), expected.losses.back(), 0.02 * expected.losses.back());
  const RunRecord wide = run_with_checkpoints(plain + load("narrow"), 2, 5);
  EXPECT_EQ(wide.start, 4);
  EXPECT_NEAR(wide.losses.back(), narrow.losses.back(), 1e-2 * narrow.losses.back());
}

}  // namespace state_types_test
}  // namespace mpitron::train
