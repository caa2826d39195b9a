#include "plan/calibration/launch_times.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace launch_times_test {

TEST(LaunchTimes, AreTheMediansByKernelAndExtents) {
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

TEST(LaunchTimes, AMedianOfAnEvenNumberIsTheMeanOfTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 100}), 3);
}

}  // namespace launch_times_test
}  // namespace mpitron::plan
