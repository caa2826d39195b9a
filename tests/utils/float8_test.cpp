#include "utils/float8.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron {
namespace {

/// All finite numbers >= 0 of a format, in order, from its bits: e4m3 has no infinities and one
/// NaN, e5m2 is as IEEE 754.
std::vector<double> numbers(Fp8Format format) {
  const int mantissa_bits = format == Fp8Format::e4m3 ? 3 : 2;
  const int bias = format == Fp8Format::e4m3 ? 7 : 15;
  const int last = format == Fp8Format::e4m3 ? 0x7e : 0x7b;
  std::vector<double> result;
  for (int bits = 0; bits <= last; ++bits) {
    const int exponent = bits >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
    const int whole = exponent > 0 ? mantissa + (1 << mantissa_bits) : mantissa;
    result.push_back(std::ldexp(whole, std::max(exponent, 1) - bias - mantissa_bits));
  }
  return result;
}

/// Ties go to the number with even bits.
double nearest(const std::vector<double>& all, double x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double now = std::abs(all[i] - x), before = std::abs(all[best] - x);
    if (now < before || (now == before && i % 2 == 0)) {
      best = i;
    }
  }
  return all[best];
}

class Float8 : public ::testing::TestWithParam<Fp8Format> {};

TEST_P(Float8, RoundsToTheNearestNumber) {
  const std::vector<double> all = numbers(GetParam());
  EXPECT_EQ(all.back(), static_cast<double>(limits_of(GetParam()).largest));
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    for (const double part : {0.0, 0.25, 0.5, 0.75}) {
      const auto x = static_cast<float>(all[i] + part * (all[i + 1] - all[i]));
      EXPECT_EQ(nearest_fp8(x, GetParam()), nearest(all, x)) << x;
      EXPECT_EQ(nearest_fp8(-x, GetParam()), -nearest(all, x)) << x;
    }
  }
}

TEST_P(Float8, KeepsWhatIsNotFiniteAndCutsWhatIsTooLarge) {
  const float largest = limits_of(GetParam()).largest;
  EXPECT_EQ(nearest_fp8(1.01f * largest, GetParam()), largest);
  EXPECT_EQ(nearest_fp8(-3e38f, GetParam()), -largest);
  EXPECT_EQ(nearest_fp8(INFINITY, GetParam()), INFINITY);
  EXPECT_TRUE(std::isnan(nearest_fp8(NAN, GetParam())));
  EXPECT_EQ(nearest_fp8(1e-30f, GetParam()), 0);
}

TEST_P(Float8, TheScaleIsTheLargestThatFits) {
  const float largest = limits_of(GetParam()).largest;
  for (const float value : {1.0f, 1.74f, 1.75f, 1.76f, 3e-5f, 447.f, 449.f, 6e4f, 1e30f}) {
    const int exponent = fp8_scale_exponent(value, GetParam(), 0);
    EXPECT_LE(value * power_of_two(exponent), largest) << value;
    EXPECT_GT(value * power_of_two(exponent + 1), largest) << value;
    EXPECT_EQ(fp8_scale_exponent(value, GetParam(), 2), exponent - 2);
  }
  EXPECT_EQ(fp8_scale_exponent(0, GetParam(), 0), 0);
  EXPECT_EQ(fp8_scale_exponent(INFINITY, GetParam(), 0), 0);
  EXPECT_EQ(fp8_scale_exponent(1e-40f, GetParam(), 0), 126);
}

INSTANTIATE_TEST_SUITE_P(Formats, Float8, ::testing::Values(Fp8Format::e4m3, Fp8Format::e5m2),
                         [](const auto& info) {
                           return info.param == Fp8Format::e4m3 ? "e4m3" : "e5m2";
                         });

}  // namespace
}  // namespace mpitron
