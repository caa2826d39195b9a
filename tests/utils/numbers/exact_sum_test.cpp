#include "utils/numbers/exact_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::exact_sum {
namespace exact_sum_test {

using Storage = std::array<std::int64_t, kBins>;

double sum_of(const std::vector<double>& values) {
  Storage bins{};
  for (const double x : values) {
    add(bins, x);
  }
  return value(bins);
}

TEST(ExactSum, HoldsWhatDoublesLose) {
  EXPECT_EQ(sum_of({}), 0);
  EXPECT_EQ(sum_of({1.5, 2.25}), 3.75);
  EXPECT_EQ(sum_of({0x1p-60, 1, 0x1p-60}), 1);
  std::vector<double> small(1 << 10, 0x1p-60);
  small.push_back(1);
  EXPECT_EQ(sum_of(small), 1 + 0x1p-50);
  EXPECT_EQ(sum_of({0x1p262, 0x1p262}), 0x1p263);
  EXPECT_EQ(sum_of({0x1p-298, 0x1p-298}), 0x1p-297);
}

/// Any order and any split give the same bits; doubles do not.
TEST(ExactSum, OrderAndSplitDoNotMatter) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> wide(0, 20);
  std::vector<double> values(5000);
  std::generate(values.begin(), values.end(), [&] { return wide(random); });
  const double expected = sum_of(values);
  EXPECT_NEAR(expected, std::accumulate(values.rbegin(), values.rend(), 0.0), 1e-12 * expected);
  for (int trial = 0; trial < 5; ++trial) {
    std::shuffle(values.begin(), values.end(), random);
    EXPECT_EQ(sum_of(values), expected);
    Storage parts[2] = {};
    for (std::size_t i = 0; i < values.size(); ++i) {
      add(parts[i % 3 == 0], values[i]);
    }
    carry(parts[0]);
    std::transform(parts[0].begin(), parts[0].end(), parts[1].begin(), parts[0].begin(),
                   std::plus<>());
    EXPECT_EQ(value(parts[0]), expected);
  }
}

TEST(ExactSum, AFloatIsAddedAsItsDouble) {
  Storage floats{}, doubles{};
  for (const float x : {0.f, 1.f, 0x1.8p-149f, 0x1p-126f, 0x1.fffffep127f, 3.14159f, 1e-20f}) {
    add(floats, x);
    add(doubles, static_cast<double>(x));
    EXPECT_EQ(value(floats), value(doubles)) << x;  // carries: the digits are comparable then
    EXPECT_EQ(floats, doubles) << x;
  }
}

TEST(ExactSum, NotFiniteStaysNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_of({1, kInfinity, 2}), kInfinity);
  EXPECT_EQ(sum_of({1, std::nan(""), 2}), kInfinity);
  EXPECT_EQ(sum_of({0x1p300}), kInfinity);
}

}  // namespace exact_sum_test
}  // namespace mpitron::exact_sum
