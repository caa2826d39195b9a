#include <gtest/gtest.h>

#include "cli/plan_words.h"

namespace mpitron::cli {
namespace plan_layouts_test {

using namespace mpitron::test;

TEST(PlanLayouts, OneLayoutOnAMachineTellsItsStep) {
  const Finished finished = run_alone(
      kPlan + Words{"--machine", "a100-dgx", "--world-size", "8", "--stack", "megatron-2021"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "memory of the fullest rank")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "9 of 10 such predictions")) << finished.out;
}

TEST(PlanLayouts, StartAndMemoryOfTheProgramAreShownWhereAskedFor) {
  const Finished shown = run_alone(
      kPlan + Words{"--machine", "h100-dgx", "--world-size", "8", "--start-up", "--replay"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "communicators")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "tensors at the peak, by the program itself:")) << shown.out;
}

}  // namespace plan_layouts_test
}  // namespace mpitron::cli
