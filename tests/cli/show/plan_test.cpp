#include <gtest/gtest.h>

#include "cli/plan_words.h"

namespace mpitron::cli {
namespace plan_test {

using namespace mpitron::test;

TEST(Plan, TellsLayersScheduleAndGroups) {
  const Finished finished =
      run_alone(kPlan + Words{"--world-size", "8", "--show-groups", "--show-schedule"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "8 ranks = 2 tensor x 1 context x 2 data x 2 pipeline"));
  EXPECT_TRUE(contains(finished.out, "stage 0 chunk 0: embedding, layers 1 to 4"));
  EXPECT_TRUE(contains(finished.out, "stage 1 chunk 0: layers 5 to 8, output and loss"));
  // 8 microbatches on 2 stages: (2 - 1) / 8.
  EXPECT_TRUE(contains(finished.out, "8 microbatches, bubble 12.5 %")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "pipeline: 4 groups of 2\n  0 4\n  1 5\n")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "F0"));
  EXPECT_TRUE(contains(finished.out, "memory of the fullest rank: 1.9 MB weights")) << finished.out;
}

TEST(Plan, ALayerAloneIsNoRange) {
  const Finished finished = run_alone(kPlan + Words{"--world-size", "4", "--num-layers", "2"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "stage 0 chunk 0: embedding, layer 1\n")) << finished.out;
}

TEST(Plan, CountsTheTypesAndThePlaceOfOptimizerState) {
  const Finished finished =
      run_alone(kPlan + Words{"--world-size", "8", "--bf16", "--use-distributed-optimizer",
                              "--use-precision-aware-optimizer", "--optimizer-cpu-offload"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "optimizer state in the host's memory")) << finished.out;
}

TEST(Plan, CountsWeightsInEightBits) {
  const Words eight_bits = {"--world-size", "8", "--bf16", "--fp8-format", "hybrid"};
  const Finished finished = run_alone(kPlan + eight_bits);
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, " MB weights in 8 bits")) << finished.out;
  const Finished first_and_last = run_alone(kPlan + eight_bits + Words{"--first-last-layers-bf16"});
  EXPECT_TRUE(contains(first_and_last.out, " MB weights in 8 bits"));
  EXPECT_NE(first_and_last.out, finished.out);
}

TEST(Plan, TellsWhichGpuARankTakesAndWhatStaysOnANode) {
  const Finished finished = run_alone(kPlan + Words{"--world-size", "8", "--ranks-per-node", "4"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out,
                       "2 nodes: ranks 0 to 3 of a node take its GPUs 0 to 3; within a node: "
                       "tensor, context, data, data x context; over nodes: pipeline"))
      << finished.out;
}

TEST(Plan, DrawsTheZeroBubbleSchedule) {
  const Finished finished =
      run_alone(kPlan + Words{"--world-size", "4", "--global-batch-size", "8",
                              "--pipeline-schedule", "zero-bubble", "--show-schedule"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  // A third of (2 - 1) / 8.
  EXPECT_TRUE(contains(finished.out, "schedule zero-bubble: 8 microbatches, bubble 4.2 %"))
      << finished.out;
  EXPECT_TRUE(contains(finished.out, "0 | F0 F1 .  B0 W0 F2 B1 W1")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "1 | .  F0 B0 F1 B1 W0 F2 B2 W1")) << finished.out;
}

TEST(Plan, IsReadableByScriptsAndQuickForManyRanks) {
  const Finished finished = run_alone(kPlan + Words{"--world-size", "6144", "--global-batch-size",
                                                    "3072", "--show-groups", "--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "\"data\": 1536")) << finished.out.substr(0, 200);
  EXPECT_TRUE(contains(finished.out, "\"tensor groups\": [[0, 1], [2, 3], "));
}

TEST(Plan, RefusesAWorldThatDoesNotDivide) {
  const Finished finished = run_alone(kPlan + Words{"--world-size", "6"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "ranks_divide")) << finished.err;
}

}  // namespace plan_test
}  // namespace mpitron::cli
