#include "train/run/exit_watch.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace exit_watch_test {

class ExitWatchTest : public ::testing::Test {
 protected:
  ~ExitWatchTest() override { ::unsetenv("SLURM_JOB_END_TIME"); }

  static void job_ends_in(std::chrono::seconds rest) {
    const auto end = std::chrono::system_clock::now() + rest;
    ::setenv("SLURM_JOB_END_TIME",
             std::to_string(std::chrono::system_clock::to_time_t(end)).c_str(), 1);
  }
  ExitDecision first_decision(std::optional<double> save_seconds = 0) {
    ExitWatch watch(tiny_run({"--save", folder_.path().string()}), *world_);
    watch.begin_iteration();
    return watch.end_iteration(1, save_seconds);
  }

  const test::TemporaryFolder folder_;
  const std::unique_ptr<comm::World> world_ = comm::make_single_world();
};

TEST_F(ExitWatchTest, NothingAsks) {
  EXPECT_EQ(first_decision().reason, ExitReason::none);
}

TEST_F(ExitWatchTest, ASignalAsks) {
  ExitWatch watch(tiny_run(), *world_);
  std::raise(SIGUSR1);
  EXPECT_EQ(watch.end_iteration(1, {}).reason, ExitReason::signal);
}

TEST_F(ExitWatchTest, AFileAsks) {
  std::ofstream(folder_.path() / "STOP").put('\n');
  EXPECT_EQ(first_decision().reason, ExitReason::stop);
  EXPECT_EQ(first_decision().reason, ExitReason::none);
}

TEST_F(ExitWatchTest, TheEndOfTheJobLeavesTimeForASave) {
  job_ends_in(std::chrono::hours(10));
  EXPECT_EQ(first_decision().reason, ExitReason::none);
  EXPECT_EQ(first_decision(11 * 3600).reason, ExitReason::job_end);
  job_ends_in(std::chrono::seconds(20));
  EXPECT_EQ(first_decision({}).reason, ExitReason::job_end);  // no save has been timed
  job_ends_in(std::chrono::seconds(-1));
  EXPECT_EQ(first_decision().reason, ExitReason::job_end);
}

}  // namespace exit_watch_test
}  // namespace mpitron::train
