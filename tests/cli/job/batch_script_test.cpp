#include "cli/job/batch_script.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "utils/error.h"
#include "utils/system/machine.h"

namespace mpitron::cli {
namespace batch_script_test {

using test::contains;

const Cluster kCluster{.launcher = "srun",
                       .gpus_per_node = 8,
                       .cores_per_node = 112,
                       .max_nodes = 64,
                       .time_limit = "24:00:00",
                       .sbatch_flags = {}};

BatchJob job() {
  return {.name = "gpt",
          .command = "pretrain-gpt",
          .flags = {"--num-layers", "96", "--save", "my runs/gpt"},
          .layout = "8 tensor x 1 context x 2 data x 16 pipeline",
          .ranks = 256,
          .ranks_per_node = 8,
          .on_gpus = true,
          .cluster = "dgx-h100",
          .home = "/opt/mpitron",
          .time_limit = "12:00:00"};
}

std::string refusal(const BatchJob& job, const Cluster& cluster) {
  try {
    check_fits(job, cluster);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

TEST(BatchScript, AsksForWhatTheJobNeeds) {
  const std::string text = batch_script(job(), kCluster);
  EXPECT_TRUE(text.starts_with("#!/usr/bin/env bash\n"));
  EXPECT_TRUE(contains(text,
                       "256 ranks = 8 tensor x 1 context x 2 data x 16 pipeline, on 32 nodes "
                       "of 8"))
      << text;
  EXPECT_TRUE(contains(text,
                       "#SBATCH --nodes=32 --ntasks-per-node=8 --cpus-per-task=14 "
                       "--gpus-per-node=8 --exclusive\n"))
      << text;
  EXPECT_TRUE(contains(text, "#SBATCH --time=12:00:00 --requeue --signal=B:USR1@300\n"));
  EXPECT_TRUE(contains(text, "  --num-layers 96 --save 'my runs/gpt'\n")) << text;
  EXPECT_TRUE(contains(text, "/jobs/supervise.sh\" pretrain-gpt \"${flags[@]}\"\n"));
}

TEST(BatchScript, PartOfANodeIsShared) {
  BatchJob small = job();
  small.ranks = 2;
  small.on_gpus = false;
  Cluster cluster = kCluster;
  cluster.sbatch_flags = {"--partition=debug", "--account=me"};
  const std::string text = batch_script(small, cluster);
  EXPECT_TRUE(contains(text, "#SBATCH --nodes=1 --ntasks-per-node=2 --cpus-per-task=14\n")) << text;
  EXPECT_TRUE(contains(text, "#SBATCH --partition=debug --account=me\n"));
  cluster.cores_per_node = 0;
  EXPECT_FALSE(contains(batch_script(small, cluster), "--cpus-per-task"));
}

TEST(BatchScript, LongFlagsTakeSeveralLines) {
  BatchJob many = job();
  many.flags.clear();
  for (int i = 0; i < 40; ++i) {
    many.flags.insert(many.flags.end(), {"--some-long-flag-name", "-1"});
  }
  std::istringstream lines(batch_script(many, kCluster));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 130U) << line;
  }
}

TEST(BatchScript, WordsSurviveTheShell) {
  for (const std::string word : {"plain", "", "two words", "it's", "$HOME `x` \"y\"", "a\\b",
                                 "(([1]*3+[0]*1)*3)", "*.bin"}) {
    EXPECT_EQ(command_output({"bash", "-c", "printf %s " + shell_word(word)}).text, word);
  }
  EXPECT_EQ(shell_word("--lr=3e-4"), "--lr=3e-4");
}

TEST(BatchScript, WhatDoesNotFitIsRefusedWithNumbers) {
  EXPECT_EQ(refusal(job(), kCluster), "");
  BatchJob large = job();
  large.ranks = 1024;
  EXPECT_TRUE(contains(refusal(large, kCluster), "need 128 nodes")) << refusal(large, kCluster);
  EXPECT_TRUE(contains(refusal(large, kCluster), "at most --world-size 512"));
  BatchJob dense = job();
  dense.ranks_per_node = 16;
  EXPECT_TRUE(contains(refusal(dense, kCluster), "has 8 GPUs"));
  dense.on_gpus = false;
  EXPECT_EQ(refusal(dense, kCluster), "");
  dense.ranks_per_node = 128;
  EXPECT_TRUE(contains(refusal(dense, kCluster), "has 112 cores"));
}

}  // namespace batch_script_test

}  // namespace mpitron::cli
