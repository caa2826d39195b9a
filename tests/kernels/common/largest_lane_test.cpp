#include "kernels/host/common/largest_lane.h"

#include <gtest/gtest.h>

namespace mpitron::kernels::simd {
namespace largest_lane_test {

TEST(LargestLane, IsFoundWhereverItIs) {
  for (int place = 0; place < kLanes; ++place) {
    Float x;
    for (int lane = 0; lane < kLanes; ++lane) {
      x[lane] = -1.F - static_cast<float>(lane);
    }
    x[place] = -0.5F;
    EXPECT_EQ(largest_lane(x), -0.5F) << place;
    EXPECT_EQ(largest_lane(x), lane_max(x)) << place;
  }
}

}  // namespace largest_lane_test
}  // namespace mpitron::kernels::simd
