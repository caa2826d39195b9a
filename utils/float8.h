#pragma once
#include <bit>
#include <cstdint>

namespace mpitron {

// Floating-point numbers of 8 bits (Micikevicius et al. 2022, FP8 Formats for Deep Learning), and
// scales that bring numbers into their range. What is constexpr also runs on GPUs.

enum class Fp8Format : std::uint8_t { e4m3, e5m2 };

struct Fp8Limits {
  int mantissa_bits, least_exponent;  // of normal numbers
  int largest_exponent;
  float largest;  // finite number
};

constexpr Fp8Limits limits_of(Fp8Format format) {
  return format == Fp8Format::e4m3 ? Fp8Limits{3, -6, 8, 448.0f} : Fp8Limits{2, -14, 15, 57344.0f};
}

/// 2^exponent, -126 <= exponent <= 127.
constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// The exponent of |x|, or -127 where it is 0 or subnormal.
constexpr int exponent_of(float x) {
  return static_cast<int>(std::bit_cast<std::uint32_t>(x) >> 23 & 0xffu) - 127;
}

constexpr bool is_finite(float x) {
  return exponent_of(x) < 128;
}

/// The number of the format that is nearest to x, ties to even; numbers beyond the largest become
/// the largest, NaN and infinities stay.
constexpr float nearest_fp8(float x, Fp8Format format) {
  const Fp8Limits limits = limits_of(format);
  if (!is_finite(x)) {
    return x;
  }
  if (x > limits.largest || x < -limits.largest) {
    return x > 0 ? limits.largest : -limits.largest;
  }
  const int exponent = exponent_of(x);
  const int last_bit =
      (exponent > limits.least_exponent ? exponent : limits.least_exponent) - limits.mantissa_bits;
  constexpr float kWhole = 0x1.8p23f;  // numbers of this size are whole: adding it rounds
  const float shifted = x * power_of_two(-last_bit) + kWhole;
  return (shifted - kWhole) * power_of_two(last_bit);
}

/// The largest e for which largest_value * 2^(e + margin) is a number of the format, cut to what
/// fp32 has the powers of; 0 where the value is 0 or not finite.
constexpr int fp8_scale_exponent(float largest_value, Fp8Format format, int margin) {
  const int exponent = exponent_of(largest_value);
  if (!(largest_value > 0) || !is_finite(largest_value)) {
    return 0;
  }
  const Fp8Limits limits = limits_of(format);
  const float mantissa = largest_value * power_of_two(exponent > -127 ? -exponent : 126);
  const bool fits = mantissa * power_of_two(limits.largest_exponent) <= limits.largest;
  const int wanted = limits.largest_exponent - exponent - (fits ? 0 : 1) - margin;
  return wanted < -126 ? -126 : wanted > 126 ? 126 : wanted;
}

}  // namespace mpitron
