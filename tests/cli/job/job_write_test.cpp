#include <fstream>

#include <gtest/gtest.h>

#include "support/program.h"
#include "support/tiny_flags.h"
#include "utils/system/machine.h"

namespace mpitron::cli {
namespace job_write_test {

using namespace mpitron::test;

const std::vector<std::string> kFlags =
    tiny_flags({"--global-batch-size", "16", "--data-path", "my data/text", "--save", "runs/tiny"});

/// A repository of one cluster: nodes of 4 ranks, at most 4 of them.
class JobWrite : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "jobs/clusters");
    std::ofstream(folder_ / "jobs/clusters/generic.sh")
        << "gpus_per_node=4 cores_per_node=8 max_nodes=4\n";
  }
  Finished write(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"job", "write"};
    words.insert(words.end(), kFlags.begin(), kFlags.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_program(folder_.path(), words);
  }
  TemporaryFolder folder_;
};

TEST_F(JobWrite, WritesAScriptForTheLayout) {
  const Finished finished = write({"--world-size", "8", "--tensor-model-parallel-size", "2",
                                   "--output", "job.sh", "--time", "1:00:00"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "2 nodes of 4 ranks")) << finished.out;
  const std::string text = read_file(folder_ / "job.sh");
  EXPECT_TRUE(contains(text, "8 ranks = 2 tensor x 1 context x 4 data x 1 pipeline")) << text;
  EXPECT_TRUE(contains(text, "--job-name=tiny")) << text;
  EXPECT_TRUE(contains(text, "--time=1:00:00")) << text;
  EXPECT_TRUE(contains(text, "--data-path 'my data/text'")) << text;
  EXPECT_FALSE(contains(text, "--world-size")) << text;
  EXPECT_EQ(command_output({"bash", "-n", folder_ / "job.sh"}).code, 0);
}

TEST_F(JobWrite, PassesShellcheck) {
  const CommandOutput version = command_output({"shellcheck", "--version"});
  if (version.code == 127) {
    GTEST_SKIP() << "shellcheck is not installed";
  }
  ASSERT_EQ(write({"--world-size", "8", "--output", "job.sh"}).code, 0);
  const CommandOutput checked = command_output({"shellcheck", folder_ / "job.sh"});
  EXPECT_EQ(checked.code, 0) << checked.text;
}

TEST_F(JobWrite, PrintsWithoutAFile) {
  const Finished finished = write({"--world-size", "4"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "#SBATCH --nodes=1 --ntasks-per-node=4")) << finished.out;
}

TEST_F(JobWrite, RefusesLayoutsThatDoNotFit) {
  const Finished uneven = write({"--world-size", "6", "--output", "job.sh"});
  EXPECT_EQ(uneven.code, 2);
  EXPECT_TRUE(contains(uneven.err, "E190")) << uneven.err;
  EXPECT_TRUE(contains(uneven.err, "6 % 4 = 2")) << uneven.err;
  const Finished wide = write({"--world-size", "8", "--tensor-model-parallel-size", "8"});
  EXPECT_EQ(wide.code, 2);
  EXPECT_TRUE(contains(wide.err, "E191")) << wide.err;
  const Finished many = write({"--world-size", "32", "--global-batch-size", "32"});
  EXPECT_EQ(many.code, 2);
  EXPECT_TRUE(contains(many.err, "need 8 nodes")) << many.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "job.sh"));
}

TEST_F(JobWrite, RefusesWrongFlagsOfTheTraining) {
  const Finished finished = write({"--world-size", "4", "--num-layers", "0"});
  EXPECT_EQ(finished.code, 2) << finished.out;
  EXPECT_EQ(finished.out, "");
}

TEST_F(JobWrite, WantsAFolderToSave) {
  const Finished finished =
      run_program(folder_.path(),
                  {"job", "write", "--num-layers", "4", "--hidden-size", "64",
                   "--num-attention-heads", "4", "--seq-length", "32", "--max-position-embeddings",
                   "32", "--micro-batch-size", "1", "--train-iters", "5", "--lr", "1e-3"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.err, "--save DIR is missing")) << finished.err;
}

}  // namespace job_write_test
}  // namespace mpitron::cli
