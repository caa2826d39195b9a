#include "plan/calibration/calibration.h"

#include <gtest/gtest.h>

#include "plan/calibration/host_machine.h"
#include "plan/machine/parameter_file.h"
#include "plan/planned_run.h"
#include "support/host_runtime.h"

namespace mpitron::plan {
namespace calibration_test {

TEST(Calibration, AMeasuredProgramHasAStepAndAFile) {
  const config::RunConfig run = test::tiny_run();
  const auto device = device::make_device("host");
  const auto world = comm::make_single_world();
  const MeasuredCosts costs = calibrate(*device, *world, {run}).costs;
  EXPECT_FALSE(costs.empty());
  const PlayedJob step = measured_step(costs, run);
  EXPECT_FALSE(step.deadlock);
  EXPECT_GT(step.seconds, 0);
  EXPECT_DOUBLE_EQ(step.seconds, step.busy) << "one rank waits for nobody";
  const std::string text = host_machine_file(costs, "", 1);
  const ParameterFile file = parse_parameter_file(text, "cpu.yaml");
  ASSERT_NE(file.measured, nullptr);
  EXPECT_EQ(file.measured->kernels().size(), costs.kernels().size());
  EXPECT_EQ(file.name, "cpu");
}

/// Twice as long in company is twice the work of a tensor rank, and nothing to others.
TEST(Calibration, WorkOfTensorRanksIsLongerInCompany) {
  MeasuredCosts costs;
  costs.add({.kernel = "cast", .extents = {64}, .work = 256, .seconds = 1e-3});
  const config::RunConfig alone = test::tiny_run();
  const config::RunConfig cut = test::tiny_run("--tensor-model-parallel-size 2 --world-size 2");
  const double before = measured_step(costs, cut).busy;
  const double other = measured_step(costs, alone).busy;
  costs.set_together(2, 2);
  EXPECT_DOUBLE_EQ(measured_step(costs, cut).busy, 2 * before);
  EXPECT_DOUBLE_EQ(measured_step(costs, alone).busy, other);
}

TEST(Calibration, ProgramsForWhichThereIsNoTimeAreLeftOut) {
  const std::vector<config::RunConfig> programs(3, test::tiny_run());
  const auto device = device::make_device("host");
  const auto world = comm::make_single_world();
  EXPECT_EQ(calibrate(*device, *world, programs, {.seconds = 1e-6}).programs, 1U)
      << "without the first there is nothing to tell";
  EXPECT_EQ(calibrate(*device, *world, programs, {.seconds = 60}).programs, 3U);
}

}  // namespace calibration_test
}  // namespace mpitron::plan
