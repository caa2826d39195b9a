#include "utils/numbers/float8.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron {
namespace float8_test {

/// All finite numbers >= 0 of a format in order, so that the index of each is its bits.
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

/// The index of the nearest; ties go to the one with even bits.
int nearest(const std::vector<double>& all, double x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double now = std::abs(all[i] - x), before = std::abs(all[best] - x);
    if (now < before || (now == before && i % 2 == 0)) {
      best = i;
    }
  }
  return static_cast<int>(best);
}

class Float8 : public ::testing::TestWithParam<Fp8Format> {};

TEST_P(Float8, BitsStandForNumbers) {
  const std::vector<double> all = numbers(GetParam());
  EXPECT_EQ(all.back(), static_cast<double>(traits_of(GetParam()).largest));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto bits = static_cast<std::uint8_t>(i);
    EXPECT_EQ(static_cast<double>(from_fp8(bits, GetParam())), all[i]);
    EXPECT_EQ(static_cast<double>(from_fp8(bits | 0x80, GetParam())), -all[i]);
    EXPECT_EQ(to_fp8(from_fp8(bits, GetParam()), GetParam()), bits);
  }
  EXPECT_TRUE(std::isnan(from_fp8(0x7f, GetParam())));
}

TEST_P(Float8, RoundsToTheNearestNumber) {
  const std::vector<double> all = numbers(GetParam());
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    for (const double part : {0.25, 0.49, 0.5, 0.51, 0.75}) {
      const auto x = static_cast<float>(all[i] + part * (all[i + 1] - all[i]));
      const int expected = nearest(all, static_cast<double>(x));
      EXPECT_EQ(to_fp8(x, GetParam()), expected) << x;
      EXPECT_EQ(to_fp8(-x, GetParam()), expected | 0x80) << x;
    }
  }
}

TEST_P(Float8, CutsWhatIsTooLargeAndKeepsNan) {
  const float largest = traits_of(GetParam()).largest;
  for (const float x : {1.01f * largest, 3e38f, INFINITY}) {
    EXPECT_EQ(from_fp8(to_fp8(x, GetParam()), GetParam()), largest) << x;
    EXPECT_EQ(from_fp8(to_fp8(-x, GetParam()), GetParam()), -largest) << x;
  }
  EXPECT_TRUE(std::isnan(from_fp8(to_fp8(NAN, GetParam()), GetParam())));
  EXPECT_EQ(to_fp8(1e-30f, GetParam()), 0);
}

TEST_P(Float8, AScaleBringsTheLargestValueToTheLargestNumber) {
  const float largest = traits_of(GetParam()).largest;
  EXPECT_EQ(fp8_scale(3, {GetParam()}), largest / 3);
  EXPECT_EQ(fp8_scale(3, {.format = GetParam(), .margin = 2}), largest / 3 / 4);
  EXPECT_EQ(fp8_scale(0, {GetParam()}), 1);
  EXPECT_EQ(fp8_scale(1e-40f, {GetParam()}), 0x1p126f);
  for (const float amax : {1.0f, 1.74f, 1.75f, 1.76f, 3e-5f, 447.f, 449.f, 6e4f, 1e30f}) {
    const float scale = fp8_scale(amax, {.format = GetParam(), .power_of_two = true});
    EXPECT_LE(amax * scale, largest) << amax;
    EXPECT_GT(amax * scale * 2, largest) << amax;
    int exponent = 0;
    EXPECT_EQ(std::frexp(scale, &exponent), 0.5f) << amax;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Float8, ::testing::Values(Fp8Format::e4m3, Fp8Format::e5m2),
                         [](const auto& info) {
                           return info.param == Fp8Format::e4m3 ? "e4m3" : "e5m2";
                         });

TEST(FiniteMagnitude, IsZeroOfWhatIsNotFinite) {
  EXPECT_EQ(finite_magnitude(-2.5f), 2.5f);
  EXPECT_EQ(finite_magnitude(-INFINITY), 0);
  EXPECT_EQ(finite_magnitude(NAN), 0);
}

}  // namespace float8_test
}  // namespace mpitron
