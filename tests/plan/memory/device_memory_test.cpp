#include "plan/memory/device_memory.h"

#include <gtest/gtest.h>

#include "plan/planned_run.h"

namespace mpitron::plan {
namespace device_memory_test {

using config::ShardingStrategy;

Job job(const Layout& layout) {
  return make_job(test::planned_run({.layers = 8, .hidden = 1024, .heads = 16, .vocabulary = 32000},
                                    1024, 64, layout));
}

constexpr Layout kPipeline{.gpus = 8, .pipeline = 4, .sharding = ShardingStrategy::no_shard};

TEST(DeviceMemory, StateIs18BytesAParameter) {
  const Job one = job({.sharding = ShardingStrategy::no_shard});
  EXPECT_NEAR(fullest_stage(one).state(), 18 * one.weights(), 1);
  const Job shared = job({.gpus = 4});
  EXPECT_NEAR(fullest_stage(shared).optimizer, 3 * one.weights(), 1);
  const Job full = job({.gpus = 4, .sharding = ShardingStrategy::optim_grads_params});
  EXPECT_NEAR(fullest_stage(full).weights, 0.5 * one.weights(), 1);
}

TEST(DeviceMemory, TheFirstStageHoldsMostMicrobatchesAndTheLastTheLogits) {
  const std::vector<RankMemory> stages = stage_memory(job(kPipeline));
  ASSERT_EQ(stages.size(), 4U);
  EXPECT_NEAR(stages[0].activations, 4 * stages[3].activations, 1);
  EXPECT_EQ(stages[0].logits, 0);
  EXPECT_EQ(stages[3].logits, 10.0 * 1024 * 32000);
}

TEST(DeviceMemory, RecomputeAndSplittingNeverNeedMore) {
  const RankMemory before = fullest_stage(job(kPipeline));
  Job again = job(kPipeline);
  again.run.model.recompute_granularity = config::RecomputeGranularity::selective;
  again.run.model.recompute_modules = {config::RecomputeModule::layernorm};
  const double some = fullest_stage(again).total();
  EXPECT_LT(some, before.total());
  again.run.model.recompute_granularity = config::RecomputeGranularity::full;
  EXPECT_LT(fullest_stage(again).total(), some);
  Layout split = kPipeline;
  split.tensor = 2;
  EXPECT_LT(fullest_stage(job(split)).total(), before.total());
  split = kPipeline;
  split.context = 2;
  EXPECT_LT(fullest_stage(job(split)).activations, before.activations);
}

}  // namespace device_memory_test
}  // namespace mpitron::plan
