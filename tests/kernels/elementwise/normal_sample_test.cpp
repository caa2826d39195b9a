#include "kernels/elementwise/normal_sample.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace normal_sample_test {

constexpr Philox::Key kKey{1234, 99};
constexpr Index kCount = 100000;

std::vector<double> samples(Philox::Key key = kKey) {
  std::vector<double> x;
  for (Index i = 0; i < kCount; ++i) {
    x.push_back(normal_sample(key, i));
  }
  return x;
}

template <class F>
double mean(F&& f) {
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kCount); ++i) {
    sum += f(i);
  }
  return sum / static_cast<double>(kCount);
}

// Within 5 standard deviations of the estimates.
TEST(NormalSample, MomentsOfTheNormalDistribution) {
  const auto x = samples();
  const double unit = 5 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(mean([&](std::size_t i) { return x[i]; }), 0, unit);
  EXPECT_NEAR(mean([&](std::size_t i) { return x[i] * x[i]; }), 1, std::sqrt(2) * unit);
  EXPECT_NEAR(mean([&](std::size_t i) { return std::pow(x[i], 3); }), 0, std::sqrt(15) * unit);
  EXPECT_NEAR(mean([&](std::size_t i) { return std::pow(x[i], 4); }), 3, std::sqrt(96) * unit);
}

TEST(NormalSample, FollowsTheNormalDistributionFunction) {
  auto x = samples();
  std::sort(x.begin(), x.end());
  double distance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double cdf = 0.5 * std::erfc(-x[i] / std::sqrt(2.0));
    distance = std::max(distance, std::abs(cdf - (static_cast<double>(i) + 0.5) / kCount));
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(static_cast<double>(kCount)));  // Kolmogorov: 1 in 1000
}

TEST(NormalSample, NeighboursAndKeysAreIndependent) {
  const auto x = samples(), other = samples({kKey[0] + 1, kKey[1]});
  const double unit = 5 / std::sqrt(static_cast<double>(kCount));
  for (const std::size_t distance : {1u, 2u, 64u}) {
    EXPECT_NEAR(mean([&](std::size_t i) { return x[i] * x[(i + distance) % x.size()]; }), 0, unit)
        << distance;
  }
  EXPECT_NEAR(mean([&](std::size_t i) { return x[i] * other[i]; }), 0, unit);
  // the two of a pair share their radius: their squares would show it
  EXPECT_NEAR(mean([&](std::size_t i) {
                const std::size_t even = i / 2 * 2;
                return (x[even] * x[even] - 1) * (x[even + 1] * x[even + 1] - 1);
              }),
              0, 2 * std::sqrt(2.0) * unit);
}

TEST(NormalSample, UniformsStayInTheirIntervals) {
  for (std::uint64_t counter = 0; counter < 20000; ++counter) {
    const UniformPair u = uniform_pair(kKey, counter << 20);
    EXPECT_GT(u.first, 0);
    EXPECT_LE(u.first, 1);
    EXPECT_GE(u.second, 0);
    EXPECT_LT(u.second, 1);
  }
}

TEST(NormalSample, IndicesBeyond32BitsAreNumbersOfTheirOwn) {
  for (const Index i : {Index{0}, Index{1}, Index{77}}) {
    EXPECT_NE(normal_sample(kKey, i), normal_sample(kKey, i + (Index{1} << 33)));
    EXPECT_NE(normal_sample(kKey, i), normal_sample(kKey, i + (Index{1} << 32)));
  }
}

// The layout that files and shards rely on: counter j makes numbers 2 j and 2 j + 1.
TEST(NormalSample, APairIsOnePointOfTheCircle) {
  for (Index j = 0; j < 1000; ++j) {
    const UniformPair u = uniform_pair(kKey, static_cast<std::uint64_t>(j));
    const double x = normal_sample(kKey, 2 * j), y = normal_sample(kKey, 2 * j + 1);
    EXPECT_NEAR(x * x + y * y, -2 * std::log(u.first), 1e-12);
    double turn = std::atan2(y, x) / (2 * std::numbers::pi) - u.second;
    turn -= std::round(turn);
    EXPECT_NEAR(turn, 0, 1e-12);
  }
}

}  // namespace normal_sample_test
}  // namespace mpitron::kernels
