#include "plan/machine/nearest_kernels.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace nearest_kernels_test {

TimedKernel kernel_of(Index extent, double seconds) {
  return {.kernel = "matmul",
          .ranks = 1,
          .extents = {extent},
          .work = static_cast<double>(extent),
          .seconds = seconds};
}

TEST(NearestKernels, WhatWasMeasuredSaysMost) {
  const std::vector<TimedKernel> known = {kernel_of(64, 64e-6), kernel_of(4096, 4096e-9)};
  EXPECT_NEAR(rate_near(known, {64}, 64, 1), 1e-6, 1e-8);
  EXPECT_NEAR(rate_near(known, {4096}, 4096, 1), 1e-9, 1e-11);
  const double between = rate_near(known, {512}, 512, 1);
  EXPECT_GT(between, 1e-9);
  EXPECT_LT(between, 1e-6);
}

TEST(NearestKernels, OtherNumbersOfRanksSayNothing) {
  EXPECT_EQ(rate_near({kernel_of(64, 1e-6)}, {64}, 64, 2), 0);
  EXPECT_EQ(rate_near({}, {64}, 64, 1), 0);
}

TEST(NearestKernels, DistancesAreOfLogarithms) {
  EXPECT_EQ(extent_distance({3, 7}, {3, 7}), 0);
  EXPECT_GT(extent_distance({1}, {2}), extent_distance({1000}, {1001}));
  EXPECT_EQ(extent_distance({5}, {5, 0}), 0);
}

}  // namespace nearest_kernels_test
}  // namespace mpitron::plan
