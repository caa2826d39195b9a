#include "cli/run/launch.h"

#include <gtest/gtest.h>

#include "cli/tiny_run.h"

namespace mpitron::cli {
namespace launch_test {

using namespace mpitron::test;

const Words kRun = kTinyMock + Words{"--save", "run", "--tensorboard-dir", "tensorboard"};

TEST(Launch, CopiesOfAOneRankJobAreRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  const Finished finished = run_program(
      folder.path(), kRun, {.variables = {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}}});
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_TRUE(contains(finished.err, "srun --mpi=pmix")) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  EXPECT_FALSE(std::filesystem::exists(folder / "tensorboard"));
}

TEST(Launch, OnlyTheFirstOfTheCopiesSpeaks) {
  const TemporaryFolder folder;
  const Finished finished = run_program(
      folder.path(), kRun, {.variables = {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}}});
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.err, "");
}

TEST(Launch, WarnsOfAProcessAloneInALargerJob) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(folder.path(), {"io-bench", ".", "--megabytes", "1", "--repetitions", "1"},
                  {.variables = {{"SLURM_NTASKS", "8"}, {"OMP_NUM_THREADS", "1"}}});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "this Slurm job has 8 tasks")) << finished.err;
}

TEST(Launch, WarnsOfThreadsThatHaveNoProcessor) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(folder.path(), {"io-bench", ".", "--megabytes", "1", "--repetitions", "1"},
                  {.variables = {{"OMP_NUM_THREADS", "5000"}}});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "rank 0: 5000 threads on")) << finished.err;
}

}  // namespace launch_test
}  // namespace mpitron::cli
