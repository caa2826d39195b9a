#include "launch/launcher.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "utils/error.h"

namespace mpitron::launch {
namespace launcher_test {

using test::contains;

const MpiLibrary kDebian{.version = "Open MPI v4.1.4", .knows_pmi = false};
const MpiLibrary kMpich{.version = "MPICH Version: 4.0.2", .knows_pmi = true};

/// What the program would say; empty where it goes on.
std::string before_mpi(const Environment& environment, const MpiLibrary& mpi) {
  try {
    check_before_mpi(read_launch(environment), mpi);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_TRUE(error.on_all_ranks());
    return error.what();
  }
}

std::string with_ranks(const Environment& environment, Index rank, Index size) {
  try {
    check_ranks(read_launch(environment), rank, size, kDebian);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    return error.what();
  }
}

// What the launchers set, recorded from Open MPI 4.1.4 and Slurm 22.05.
const Environment kMpirun = {
    {"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "3"}};
const Environment kSrunPmix = {{"PMIX_RANK", "1"},
                               {"SLURM_MPI_TYPE", "pmix"},
                               {"SLURM_NTASKS", "2"},
                               {"SLURM_PROCID", "1"},
                               {"SLURM_STEP_NUM_TASKS", "2"}};
const Environment kSrunPmi2 = {{"PMI_RANK", "1"},
                               {"PMI_SIZE", "2"},
                               {"SLURM_NTASKS", "2"},
                               {"SLURM_PROCID", "1"},
                               {"SLURM_STEP_NUM_TASKS", "2"}};
const Environment kSrunNone = {
    {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}};
/// mpirun in a job of two nodes, one helper on each.
const Environment kMpirunInJob = {
    {"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"PMIX_RANK", "5"},
    {"SLURM_NTASKS", "8"},         {"SLURM_PROCID", "1"},         {"SLURM_STEP_NUM_TASKS", "2"}};

TEST(Launcher, KnowsWhoStartedTheProcess) {
  EXPECT_TRUE(read_launch(kMpirun).by_mpi());
  EXPECT_TRUE(read_launch(kSrunPmix).by_mpi());
  EXPECT_TRUE(read_launch(kSrunPmi2).by_mpi());
  EXPECT_FALSE(read_launch(kSrunNone).by_mpi());
  EXPECT_FALSE(read_launch({}).by_mpi());
}

TEST(Launcher, PresumesTheRankBeforeMpiTellsIt) {
  EXPECT_EQ(read_launch(kMpirun).presumed_rank(), 3);
  EXPECT_EQ(read_launch(kSrunPmix).presumed_rank(), 1);
  EXPECT_EQ(read_launch(kSrunNone).presumed_rank(), 2);
  EXPECT_EQ(read_launch(kMpirunInJob).presumed_rank(), 5);
  EXPECT_EQ(read_launch({}).presumed_rank(), 0);
}

TEST(Launcher, WorkingLaunchesPass) {
  for (const Environment& environment : {kMpirun, kSrunPmix, kMpirunInJob, Environment()}) {
    EXPECT_EQ(before_mpi(environment, kDebian), "");
  }
  EXPECT_EQ(before_mpi(kSrunPmi2, kMpich), "");
  EXPECT_EQ(with_ranks(kMpirun, 3, 4), "");
  EXPECT_EQ(with_ranks(kSrunPmix, 1, 2), "");
  EXPECT_EQ(with_ranks(kMpirunInJob, 5, 8), "");
  EXPECT_EQ(with_ranks({}, 0, 1), "");
}

TEST(Launcher, CopiesOfAOneRankJobAreRefusedWithTheFix) {
  const std::string none = before_mpi(kSrunNone, kDebian);
  EXPECT_TRUE(contains(none, "srun started 4 tasks")) << none;
  EXPECT_TRUE(contains(none, "srun --mpi=pmix")) << none;
  EXPECT_TRUE(contains(none, "Open MPI v4.1.4")) << none;
  // Open MPI without a component for PMI dies in MPI_Init.
  EXPECT_TRUE(contains(before_mpi(kSrunPmi2, kDebian),
                       "speaks PMI (srun --mpi=pmi2, MPICH's mpirun) started 2 tasks"));
  // One task of srun is a job of one rank.
  EXPECT_EQ(before_mpi({{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}}, kDebian), "");
}

TEST(Launcher, AnotherMpisLauncherIsRefused) {
  const std::string text = with_ranks(kMpirun, 0, 1);
  EXPECT_TRUE(contains(text, "rank 3 of 4 (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)")) << text;
  EXPECT_TRUE(contains(text, "MPI says rank 0 of 1")) << text;
  EXPECT_TRUE(contains(with_ranks({{"PMI_RANK", "0"}, {"PMI_SIZE", "8"}}, 0, 1), "0 of 8"));
  EXPECT_TRUE(contains(with_ranks(kSrunPmix, 0, 1), "rank 1 of 2"));
  // Where nobody tells the size, a rank beyond MPI's world tells.
  EXPECT_TRUE(contains(with_ranks({{"PMIX_RANK", "2"}}, 0, 1), "rank 2 of unknown"));
}

TEST(Launcher, OneProcessOfALargerJobIsWarnedOf) {
  EXPECT_TRUE(contains(launch_warning(read_launch({{"SLURM_NTASKS", "8"}})), "8 tasks"));
  EXPECT_EQ(launch_warning(read_launch({{"SLURM_NTASKS", "1"}})), "");
  EXPECT_EQ(launch_warning(read_launch(kSrunPmix)), "");
  EXPECT_EQ(launch_warning(read_launch(kMpirunInJob)), "");
  EXPECT_EQ(launch_warning(read_launch({})), "");
}

}  // namespace launcher_test
}  // namespace mpitron::launch
