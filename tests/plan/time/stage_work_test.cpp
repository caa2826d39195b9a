#include <gtest/gtest.h>

#include "plan/machine/library.h"
#include "plan/planned_run.h"
#include "plan/time/step_time.h"

namespace mpitron::plan {
namespace stage_work_test {

TEST(StageWork, StagesHoldTheLayersThatTrainingGivesThem) {
  const Layout layout{.gpus = 1024, .tensor = 8, .pipeline = 16};
  config::RunConfig run =
      test::planned_run({.layers = 126, .hidden = 16384, .heads = 128}, 8192, 256, layout);
  EXPECT_TRUE(run.parallel.account_for_embedding_in_pipeline_split);
  const Machine machine = *Library().machine("h100-dgx");
  const Stack stack = *Library().stack("megatron");
  const Job job = make_job(run);
  const std::vector<StageWork> stages = stage_works({machine, stack, job});
  ASSERT_EQ(stages.size(), 16U);
  const double seven = stages[0].held.dense - 51200.0 * 16384 / 8;  // beside the embedding
  EXPECT_NEAR(stages[1].held.dense / seven, 8.0 / 7, 1e-9);
}

/// A stage with the output layer works longer than those in the middle.
TEST(StageWork, TheLastStageHasTheHead) {
  const Job job = make_job(test::planned_run({.layers = 16, .hidden = 1024, .heads = 16}, 1024, 64,
                                             {.gpus = 4, .pipeline = 4}));
  const std::vector<StageWork> stages =
      stage_works({*Library().machine("h100-dgx"), *Library().stack("megatron"), job});
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_GT(stages[3].seconds(), stages[1].seconds());
  EXPECT_EQ(stages[1].seconds(), stages[2].seconds());
  EXPECT_GT(stages[0].held.dense, stages[1].held.dense);
}

}  // namespace stage_work_test
}  // namespace mpitron::plan
