#include "plan/machine/measured_costs.h"

#include <gtest/gtest.h>

#include "plan/machine/sample_costs.h"
#include "utils/error.h"

namespace mpitron::plan {
namespace measured_costs_test {

using comm::CollectiveKind;

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

TEST(MeasuredCosts, OthersAreThoseOfOtherNumbersOfRanks) {
  MeasuredCosts costs = sample(), other = sample();
  other.add(matmul(64, 3e-4, 2));
  costs.add_others(other, 1);
  EXPECT_EQ(costs.kernels().size(), 3U);
}

TEST(MeasuredCosts, RanksThatMeetTakeLonger) {
  EXPECT_EQ(sample().together(2), 1.25);
  EXPECT_EQ(sample().together(4), 1.25) << "the nearest that was measured";
  EXPECT_EQ(MeasuredCosts().together(2), 1) << "nothing was";
}

}  // namespace measured_costs_test

}  // namespace mpitron::plan
