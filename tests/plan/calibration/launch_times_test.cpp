#include "plan/calibration/launch_times.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace launch_times_test {

TEST(LaunchTimes, AreKeptByKernelAndExtents) {
  LaunchTimes times;
  const device::LaunchRecord record{.kernel = "cast",
                                    .device = "host",
                                    .bytes = 64,
                                    .multiply_adds = 0,
                                    .dtype = DType::f32,
                                    .shapes = {Shape{16}, Shape{16}},
                                    .arguments = {}};
  for (int i = 0; i < 3; ++i) {
    times.before(record);
    times.after(record);
  }
  const std::vector<TimedKernel> kernels = times.kernels(2);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].ranks, 2);
  EXPECT_EQ(kernels[0].extents, (std::vector<Index>{16, 16}));
  EXPECT_EQ(kernels[0].work, 64) << "bytes are the measure of what multiplies nothing";
  EXPECT_EQ(times.launches(), 3U);
}

TEST(LaunchTimes, WhatIsUsualIsAMeanWithoutHiccups) {
  EXPECT_EQ(usual({}), 0);
  EXPECT_DOUBLE_EQ(usual({1, 1, 1, 1.5, 1.5}), 1.2) << "a tail adds to a sum";
  EXPECT_DOUBLE_EQ(usual({1, 1, 1, 50}), 1) << "the machine did something else";
}

}  // namespace launch_times_test
}  // namespace mpitron::plan
