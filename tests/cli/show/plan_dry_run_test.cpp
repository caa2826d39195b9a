#include <gtest/gtest.h>

#include "cli/plan_words.h"

namespace mpitron::cli {
namespace plan_dry_run_test {

using namespace mpitron::test;

TEST(PlanDryRun, ADryRunProvesThatAllRanksFitTogether) {
  const Finished proven = run_alone(kPlan + Words{"--world-size", "8", "--dry-run", "all"});
  EXPECT_EQ(proven.code, 0) << proven.err;
  EXPECT_TRUE(contains(proven.out, "8 ranks in 2 classes")) << proven.out;
  EXPECT_TRUE(contains(proven.out, "nobody waits for ever")) << proven.out;
  const Finished one = run_alone(kPlan + Words{"--world-size", "8", "--dry-run", "5"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "rank 5 of 8: tensor 1, context 0, data 0, stage 1")) << one.out;
  EXPECT_TRUE(contains(one.out, "kernels with their arguments:")) << one.out;
  const Finished none = run_alone(kPlan + Words{"--world-size", "8", "--dry-run", "8"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "ranks 0 to 7")) << none.err;
}

}  // namespace plan_dry_run_test
}  // namespace mpitron::cli
