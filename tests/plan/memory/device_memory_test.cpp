#include "plan/memory/device_memory.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace device_memory_test {

Job job() {
  return {.model = {.layers = 8,
                    .hidden = 1024,
                    .ffn = 4096,
                    .heads = 16,
                    .kv_heads = 16,
                    .head_dim = 64,
                    .vocab = 32000,
                    .tied = true},
          .layout = {.gpus = 8, .pipeline = 4},
          .sequence = 1024,
          .global_batch = 64};
}

TEST(DeviceMemory, StateIs18BytesAParameter) {
  Job one = job();
  one.layout = {.gpus = 1};
  const RankMemory rank = fullest_stage(one);
  EXPECT_NEAR(rank.weights + rank.gradients + rank.optimizer, 18 * total_parameters(one.model), 1);
  one.layout = {.gpus = 4, .sharding = Sharding::optimizer};
  EXPECT_NEAR(fullest_stage(one).optimizer, 3 * total_parameters(one.model), 1);
  one.layout.sharding = Sharding::full;
  EXPECT_NEAR(fullest_stage(one).weights, 0.5 * total_parameters(one.model), 1);
}

TEST(DeviceMemory, TheFirstStageHoldsMostMicrobatchesAndTheLastTheLogits) {
  const std::vector<RankMemory> stages = stage_memory(job());
  ASSERT_EQ(stages.size(), 4U);
  EXPECT_NEAR(stages[0].activations, 4 * stages[3].activations, 1);
  EXPECT_EQ(stages[0].logits, 0);
  EXPECT_EQ(stages[3].logits, 10.0 * 1024 * 32000);
}

TEST(DeviceMemory, RecomputeAndSplittingNeverNeedMore) {
  Job split = job();
  const double before = fullest_stage(split).total();
  split.layout.recompute = Recompute::full;
  EXPECT_LT(fullest_stage(split).total(), before);
  split = job();
  split.layout.tensor = 2;
  EXPECT_LT(fullest_stage(split).total(), before);
  split = job();
  split.layout.context = 2;
  EXPECT_LT(fullest_stage(split).activations, fullest_stage(job()).activations);
}

}  // namespace device_memory_test
}  // namespace mpitron::plan
