#include "utils/numbers/float16.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace mpitron {
namespace float16_test {

/// A format by its numbers, and its values computed in double: the oracle.
struct Format {
  int mantissa_bits;
  int bias;
  unsigned top_exponent;  // infinities and NaN

  bool is_nan(unsigned bits) const { return exponent(bits) == top_exponent && mantissa(bits) != 0; }
  double value(unsigned bits) const {
    const double sign = bits & 0x8000u ? -1.0 : 1.0;
    if (exponent(bits) == top_exponent) {
      return mantissa(bits) == 0 ? sign * INFINITY : NAN;
    }
    const double fraction = mantissa(bits) + (exponent(bits) ? std::ldexp(1.0, mantissa_bits) : 0);
    const int power = static_cast<int>(std::max(1u, exponent(bits))) - bias - mantissa_bits;
    return sign * std::ldexp(fraction, power);
  }
  unsigned exponent(unsigned bits) const { return (bits & 0x7fffu) >> mantissa_bits; }
  unsigned mantissa(unsigned bits) const { return bits & ((1u << mantissa_bits) - 1); }

  /// Nearest representable value, ties to the even mantissa: a search among the positive bits,
  /// where infinity counts as the next power of two.
  unsigned nearest(double x) const {
    const unsigned sign = std::signbit(x) ? 0x8000u : 0;
    const double magnitude = std::abs(x);
    unsigned low = 0, high = top_exponent << mantissa_bits;
    const double limit = std::ldexp(1.0, static_cast<int>(top_exponent) - bias);
    const auto at = [&](unsigned bits) { return bits == high ? limit : value(bits); };
    if (magnitude >= limit) {
      return sign | high;
    }
    unsigned above = high;
    while (above - low > 1) {
      const unsigned middle = (low + above) / 2;
      (at(middle) <= magnitude ? low : above) = middle;
    }
    const double down = magnitude - at(low), up = at(above) - magnitude;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : above);
  }
};

template <class T>
constexpr Format kFormat{};
template <>
constexpr Format kFormat<BFloat16>{7, 127, 255};
template <>
constexpr Format kFormat<Float16>{10, 15, 31};

template <class T>
T from_bits(unsigned bits) {
  T value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

template <class T>
class HalfPrecision : public ::testing::Test {};
using Types = ::testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(HalfPrecision, Types);

TYPED_TEST(HalfPrecision, AllValuesSurviveTheRoundTrip) {
  const Format format = kFormat<TypeParam>;
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    const auto wide = static_cast<float>(from_bits<TypeParam>(bits));
    if (format.is_nan(bits)) {
      ASSERT_TRUE(std::isnan(wide)) << bits;
      ASSERT_TRUE(format.is_nan(TypeParam(wide).bits)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(wide), format.value(bits)) << bits;
      ASSERT_EQ(TypeParam(wide).bits, bits);
    }
  }
}

TYPED_TEST(HalfPrecision, HalfwayValuesGoToEvenAndTheirNeighboursToTheNearest) {
  const Format format = kFormat<TypeParam>;
  const unsigned infinity = format.top_exponent << format.mantissa_bits;
  for (unsigned bits = 0; bits + 1 < infinity; ++bits) {
    const auto halfway = static_cast<float>((format.value(bits) + format.value(bits + 1)) / 2);
    ASSERT_EQ(TypeParam(halfway).bits, bits + bits % 2) << bits;
    ASSERT_EQ(TypeParam(std::nextafter(halfway, 0.0f)).bits, bits) << bits;
    ASSERT_EQ(TypeParam(std::nextafter(halfway, INFINITY)).bits, bits + 1) << bits;
    ASSERT_EQ(TypeParam(-halfway).bits, 0x8000u | (bits + bits % 2)) << bits;
  }
}

TYPED_TEST(HalfPrecision, RandomFloatsRoundAsTheOracleDoes) {
  const Format format = kFormat<TypeParam>;
  std::mt19937 random(7);
  for (int i = 0; i < 100000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(x)) {
      ASSERT_EQ(TypeParam(x).bits, format.nearest(x)) << x;
    }
  }
}

TYPED_TEST(HalfPrecision, OverflowBecomesInfinityAndNanStaysNan) {
  const Format format = kFormat<TypeParam>;
  const unsigned infinity = format.top_exponent << format.mantissa_bits;
  EXPECT_EQ(TypeParam(INFINITY).bits, infinity);
  EXPECT_EQ(TypeParam(-INFINITY).bits, 0x8000u | infinity);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).bits, infinity);
  EXPECT_EQ(TypeParam(-0.0f).bits, 0x8000u);
  EXPECT_TRUE(format.is_nan(TypeParam(NAN).bits));
  // A NaN whose payload lies in the bits that are cut off may not turn into infinity.
  EXPECT_TRUE(format.is_nan(TypeParam(std::bit_cast<float>(0x7f800001u)).bits));
  EXPECT_TRUE(format.is_nan(TypeParam(std::bit_cast<float>(0xffffffffu)).bits));
}

TEST(Float16, TheLastFiniteValueAndTheFirstThatOverflows) {
  EXPECT_EQ(Float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(0x1p-24f).bits, 1);
  EXPECT_EQ(Float16(0x1p-25f).bits, 0);  // a tie: to even
}

}  // namespace float16_test
}  // namespace mpitron
