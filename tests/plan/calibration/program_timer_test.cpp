#include "plan/calibration/program_timer.h"

#include <array>

#include <gtest/gtest.h>

#include "plan/planned_run.h"
#include "support/host_runtime.h"

namespace mpitron::plan {
namespace program_timer_test {

TEST(ProgramTimer, OneStepIsTimedHoweverShortTheTimeIs) {
  const auto device = device::make_device("host");
  const auto world = comm::make_single_world();
  ProgramTimer timer(*device, *world);
  EXPECT_GT(timer.time(test::tiny_run(), 0, 0), 0);
  EXPECT_EQ(timer.steps(), 1);
  EXPECT_GT(timer.times().launches(), 0U);
  EXPECT_GT(timer.around_launch(), 0);
}

TEST(ProgramTimer, WithTimeStepsAreRepeatedUntilTwoAgree) {
  const auto device = device::make_device("host");
  const auto world = comm::make_single_world();
  ProgramTimer timer(*device, *world);
  timer.time(test::tiny_run(), 0, 60);
  EXPECT_GE(timer.steps(), 2);
  EXPECT_LE(timer.steps(), 4);
}

TEST(ProgramTimer, StagesOfAPipelineAreTimedWithoutTheirPeers) {
  const auto device = device::make_device("host");
  const auto world = comm::make_single_world();
  ProgramTimer timer(*device, *world);
  const config::RunConfig run = test::tiny_run("--pipeline-model-parallel-size 2 --world-size 2");
  timer.time(run, 1, 0);
  EXPECT_GT(timer.times().launches(), 0U);
}

TEST(ProgramTimer, RanksThatMeetHaveOneStep) {
  const config::RunConfig run = test::tiny_run("--tensor-model-parallel-size 2 --world-size 2");
  std::array<double, 2> seconds{};
  comm::run_thread_world(2, [&](comm::World& world) {
    const auto device = device::make_device("host");
    ProgramTimer timer(*device, world);
    seconds[static_cast<std::size_t>(world.rank())] = timer.step_together(run, 0);
  });
  EXPECT_GT(seconds[0], 0);
  EXPECT_EQ(seconds[0], seconds[1]) << "that of the slower one";
}

}  // namespace program_timer_test
}  // namespace mpitron::plan
