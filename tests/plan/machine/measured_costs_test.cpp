#include "plan/machine/measured_costs.h"

#include <gtest/gtest.h>

#include "plan/machine/exit_codes.h"
#include "plan/machine/parameter_file.h"
#include "utils/error.h"

namespace mpitron::plan {
namespace measured_costs_test {

using comm::CollectiveKind;

device::LaunchRecord launch_of(const char* kernel, Index rows, double multiply_adds) {
  return {.kernel = kernel,
          .device = "host",
          .bytes = 4 * rows,
          .multiply_adds = multiply_adds,
          .dtype = DType::f32,
          .shapes = {Shape{rows, rows}, Shape{rows, rows}},
          .arguments = {}};
}

TimedKernel matmul(Index rows, double seconds, Index ranks = 1) {
  const auto n = static_cast<double>(rows);
  return {.kernel = "matmul",
          .dtype = DType::f32,
          .ranks = ranks,
          .extents = {rows, rows, rows, rows},
          .work = n * n * n,
          .seconds = seconds};
}

/// Products of 64 and 512 rows, and two sizes of a reduction.
MeasuredCosts sample() {
  MeasuredCosts costs;
  costs.add(matmul(64, 1e-4));
  costs.add(matmul(512, 1e-2));
  costs.add(TimedOperation{CollectiveKind::all_reduce, 2, 1000, 1e-3});
  costs.add(TimedOperation{CollectiveKind::all_reduce, 2, 3000, 2e-3});
  costs.set_launch(1, 1e-6);
  return costs;
}

TEST(MeasuredCosts, WhatWasMeasuredIsFoundAgain) {
  const MeasuredCosts costs = sample();
  EXPECT_NEAR(costs.seconds(launch_of("matmul", 64, 64.0 * 64 * 64), 1), 1e-4 + 1e-6, 1e-6);
  EXPECT_NEAR(costs.seconds(launch_of("matmul", 512, 512.0 * 512 * 512), 1), 1e-2, 1e-4);
}

TEST(MeasuredCosts, OtherSizesLieBetween) {
  const MeasuredCosts costs = sample();
  const double seconds = costs.seconds(launch_of("matmul", 200, 200.0 * 200 * 200), 1);
  EXPECT_GT(seconds, 1e-4);
  EXPECT_LT(seconds, 1e-2);
  EXPECT_DOUBLE_EQ(costs.seconds(CollectiveKind::all_reduce, 2, 2000), 1.5e-3);
  EXPECT_DOUBLE_EQ(costs.seconds(CollectiveKind::all_reduce, 2, 6000), 4e-3) << "by its bytes";
  EXPECT_DOUBLE_EQ(costs.seconds(CollectiveKind::all_reduce, 4, 1000), 1.5e-3) << "3/4 over 1/2";
  EXPECT_EQ(costs.seconds(CollectiveKind::all_gather, 2, 2000), 0) << "never measured";
}

TEST(MeasuredCosts, AFileHoldsThem) {
  const std::string head = "name: here\n";
  const ParameterFile file = parse_parameter_file(head + sample().to_yaml(), "here.yaml");
  ASSERT_NE(file.measured, nullptr);
  EXPECT_EQ(file.measured->to_yaml(), sample().to_yaml());
  MeasuredCosts costs;
  try {
    costs.read_line("operations", "all_shout 2 3 4", "here.yaml");
    FAIL() << "an unknown operation was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kBadParameterFile);
    EXPECT_NE(std::string(error.what()).find("here.yaml"), std::string::npos);
  }
}

TEST(MeasuredCosts, OthersAreThoseOfOtherNumbersOfRanks) {
  MeasuredCosts costs = sample(), other = sample();
  other.add(matmul(64, 3e-4, 2));
  costs.add_others(other, 1);
  EXPECT_EQ(costs.kernels().size(), 3U);
}

}  // namespace measured_costs_test
}  // namespace mpitron::plan
