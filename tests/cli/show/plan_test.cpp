#include <fstream>

#include <gtest/gtest.h>

#include "cli/tiny_run.h"

namespace mpitron::cli {
namespace plan_test {

using namespace mpitron::test;

Finished plan(const Words& words) {
  const TemporaryFolder folder;
  return run_program(folder.path(), words);
}

const Words kModel = {"plan",
                      "--num-layers",
                      "8",
                      "--hidden-size",
                      "64",
                      "--num-attention-heads",
                      "8",
                      "--seq-length",
                      "64",
                      "--max-position-embeddings",
                      "64",
                      "--micro-batch-size",
                      "1",
                      "--global-batch-size",
                      "16",
                      "--train-iters",
                      "10",
                      "--lr",
                      "1e-3",
                      "--tokenizer-type",
                      "NullTokenizer",
                      "--vocab-size",
                      "63",
                      "--mock-data",
                      "--tensor-model-parallel-size",
                      "2",
                      "--pipeline-model-parallel-size",
                      "2"};

TEST(Plan, TellsLayersScheduleAndGroups) {
  const Finished finished =
      plan(kModel + Words{"--world-size", "8", "--show-groups", "--show-schedule"});
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
  const Finished finished = plan(kModel + Words{"--world-size", "4", "--num-layers", "2"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "stage 0 chunk 0: embedding, layer 1\n")) << finished.out;
}

TEST(Plan, CountsTheTypesAndThePlaceOfOptimizerState) {
  const Finished finished =
      plan(kModel + Words{"--world-size", "8", "--bf16", "--use-distributed-optimizer",
                          "--use-precision-aware-optimizer", "--optimizer-cpu-offload"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "optimizer state in the host's memory")) << finished.out;
}

TEST(Plan, CountsWeightsInEightBits) {
  const Words eight_bits = {"--world-size", "8", "--bf16", "--fp8-format", "hybrid"};
  const Finished finished = plan(kModel + eight_bits);
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, " MB weights in 8 bits")) << finished.out;
  const Finished first_and_last = plan(kModel + eight_bits + Words{"--first-last-layers-bf16"});
  EXPECT_TRUE(contains(first_and_last.out, " MB weights in 8 bits"));
  EXPECT_NE(first_and_last.out, finished.out);
}

TEST(Plan, TellsWhichGpuARankTakesAndWhatStaysOnANode) {
  const Finished finished = plan(kModel + Words{"--world-size", "8", "--ranks-per-node", "4"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out,
                       "2 nodes: ranks 0 to 3 of a node take its GPUs 0 to 3; within a node: "
                       "tensor, context, data, data x context; over nodes: pipeline"))
      << finished.out;
}

TEST(Plan, DrawsTheZeroBubbleSchedule) {
  const Finished finished =
      plan(kModel + Words{"--world-size", "4", "--global-batch-size", "8", "--pipeline-schedule",
                          "zero-bubble", "--show-schedule"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  // A third of (2 - 1) / 8.
  EXPECT_TRUE(contains(finished.out, "schedule zero-bubble: 8 microbatches, bubble 4.2 %"))
      << finished.out;
  EXPECT_TRUE(contains(finished.out, "0 | F0 F1 .  B0 W0 F2 B1 W1")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "1 | .  F0 B0 F1 B1 W0 F2 B2 W1")) << finished.out;
}

TEST(Plan, IsReadableByScriptsAndQuickForManyRanks) {
  const Finished finished = plan(kModel + Words{"--world-size", "6144", "--global-batch-size",
                                                "3072", "--show-groups", "--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "\"data\": 1536")) << finished.out.substr(0, 200);
  EXPECT_TRUE(contains(finished.out, "\"tensor groups\": [[0, 1], [2, 3], "));
}

TEST(Plan, RefusesAWorldThatDoesNotDivide) {
  const Finished finished = plan(kModel + Words{"--world-size", "6"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "ranks_divide")) << finished.err;
}

TEST(Plan, ATableOfMeasuredStepsIsReadOrRefused) {
  EXPECT_EQ(plan({"plan", "--validate", "nowhere.tsv"}).code, 4);
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "t.tsv") << "id\tsource\n";
  const Finished refused = run_program(folder.path(), {"plan", "--validate", "t.tsv"});
  EXPECT_EQ(refused.code, 22);
  EXPECT_TRUE(contains(refused.err, "t.tsv:1: column table is missing")) << refused.err;
}

TEST(Plan, ASearchSavesFlagsThatCheckAccepts) {
  const TemporaryFolder folder;
  const Finished found =
      run_program(folder.path(), kModel + Words{"--machine", "h100-dgx", "--gpus", "16", "--search",
                                                "--save-flags", "best.yaml"});
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_TRUE(contains(found.out, "tokens/s/GPU")) << found.out;
  EXPECT_TRUE(contains(found.out, "slower by")) << found.out;
  const Finished checked = run_program(
      folder.path(), {"check", "--yaml-cfg", "best.yaml", "--world-size", "16", "--no-files"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
}

TEST(Plan, OneLayoutOnAMachineTellsItsStep) {
  const Finished finished = plan(
      kModel + Words{"--machine", "a100-dgx", "--world-size", "8", "--stack", "megatron-2021"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "memory of the fullest rank")) << finished.out;
  EXPECT_TRUE(contains(finished.out, "9 of 10 such predictions")) << finished.out;
}

TEST(Plan, AModelThatFitsNowhereIsRefusedWithWhatWouldHelp) {
  const Finished refused = plan(kModel + Words{"--machine", "a100-40", "--gpus", "1", "--search",
                                               "--hidden-size", "8192", "--num-layers", "16"});
  EXPECT_EQ(refused.code, 20);
  EXPECT_TRUE(contains(refused.err, "no layout fits on 1 a100-40: the smallest")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "GPUs fit")) << refused.err;
}

TEST(Plan, WrongMachinesAreRefused) {
  EXPECT_TRUE(contains(plan(kModel + Words{"--machine", "abacus"}).err, "one of a100-40"));
  EXPECT_TRUE(contains(plan(kModel + Words{"--machine", "h100-dgx", "--what-if", "netwrk=2"}).err,
                       "has this name"));
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "m.yaml") << "name: m\nextends: h100-dgx\ngpu: {memory: -1}\n";
  const Finished refused = run_program(folder.path(), kModel + Words{"--machine", "m.yaml"});
  EXPECT_EQ(refused.code, 21);
  EXPECT_TRUE(contains(refused.err, "gpu.memory -1")) << refused.err;
}

TEST(Plan, ADryRunProvesThatAllRanksFitTogether) {
  const Finished proven = plan(kModel + Words{"--world-size", "8", "--dry-run", "all"});
  EXPECT_EQ(proven.code, 0) << proven.err;
  EXPECT_TRUE(contains(proven.out, "8 ranks in 2 classes")) << proven.out;
  EXPECT_TRUE(contains(proven.out, "nobody waits for ever")) << proven.out;
  const Finished one = plan(kModel + Words{"--world-size", "8", "--dry-run", "5"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(one.out, "rank 5 of 8: tensor 1, context 0, data 0, stage 1")) << one.out;
  EXPECT_TRUE(contains(one.out, "kernels with their arguments:")) << one.out;
  const Finished none = plan(kModel + Words{"--world-size", "8", "--dry-run", "8"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "ranks 0 to 7")) << none.err;
}

TEST(Plan, StartAndMemoryOfTheProgramAreShownWhereAskedFor) {
  const Finished shown =
      plan(kModel + Words{"--machine", "h100-dgx", "--world-size", "8", "--start-up", "--replay"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "communicators")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "tensors at the peak, by the program itself:")) << shown.out;
}

}  // namespace plan_test
}  // namespace mpitron::cli
