#include "cli/job/batch_script.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/contains.h"
#include "support/temporary_folder.h"
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

/// A repository with one cluster.
class ClusterFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(home_.path() / "jobs/clusters"); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = home_.path() / ("jobs/clusters/" + name + ".sh");
    std::ofstream(file) << text;
    return file;
  }
  template <class Call>
  static std::string error_of(Call&& call, ExitCode code) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  test::TemporaryFolder home_;
};

TEST_F(ClusterFile, IsReadByAShell) {
  const Cluster cluster = read_cluster(
      write("big",
            "launcher=srun gpus_per_node=8\ncores_per_node=$((2 * 56))\nmax_nodes=64\n"
            "time_limit=2-00:00:00\nsbatch_flags=(--partition=batch --account=\"my team\")\n"
            "echo hello\n"));
  EXPECT_EQ(cluster.gpus_per_node, 8);
  EXPECT_EQ(cluster.cores_per_node, 112);
  EXPECT_EQ(cluster.max_nodes, 64);
  EXPECT_EQ(cluster.time_limit, "2-00:00:00");
  EXPECT_EQ(cluster.sbatch_flags,
            std::vector<std::string>({"--partition=batch", "--account=my team"}));
}

TEST_F(ClusterFile, LeavesWhatItDoesNotSay) {
  const Cluster cluster = read_cluster(write("small", "gpus_per_node=1\n"));
  EXPECT_EQ(cluster.launcher, "srun");
  EXPECT_EQ(cluster.cores_per_node, 0);
  EXPECT_EQ(cluster.time_limit, "24:00:00");
  EXPECT_TRUE(cluster.sbatch_flags.empty());
}

TEST_F(ClusterFile, IsFoundByNameOrPath) {
  const std::filesystem::path file = write("big", "gpus_per_node=8\n");
  EXPECT_EQ(find_cluster("big", home_.path()), file);
  EXPECT_EQ(find_cluster(file.string(), "/elsewhere"), file);
  write("small", "");
  const std::string text = error_of([&] { find_cluster("huge", home_.path()); }, ExitCode::usage);
  EXPECT_NE(text.find("has: big, small"), std::string::npos) << text;
  const std::string nowhere = error_of([&] { find_cluster("big", "/elsewhere"); }, ExitCode::usage);
  EXPECT_NE(nowhere.find("--home /elsewhere: holds no jobs/clusters"), std::string::npos);
}

TEST_F(ClusterFile, NamesWhatIsWrongInIt) {
  const std::filesystem::path broken = write("broken", "if true; then\n");
  error_of([&] { read_cluster(broken); }, ExitCode::environment);
  const std::filesystem::path words = write("words", "gpus_per_node=eight\n");
  EXPECT_NE(error_of([&] { read_cluster(words); }, ExitCode::usage).find("gpus_per_node=eight"),
            std::string::npos);
}

TEST(Clusters, OfTheRepositoryCanBeRead) {
  int count = 0;
  const std::filesystem::path folder = std::filesystem::path(MPITRON_SOURCE_DIR) / "jobs/clusters";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    EXPECT_GT(read_cluster(entry.path()).gpus_per_node, 0) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace batch_script_test

}  // namespace mpitron::cli
