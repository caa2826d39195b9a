#pragma once
#include <bit>
#include <cstdint>

namespace mpitron {

// Floating-point numbers of 8 bits (Micikevicius et al. 2022, FP8 Formats for Deep Learning), and
// scales that bring other numbers into their range. What is constexpr also runs on GPUs.

/// A sign, 4 bits of exponent and 3 of mantissa, without infinities; or 5 and 2, as IEEE 754.
enum class Fp8Format : std::uint8_t { e4m3, e5m2 };

struct Fp8Traits {
  int mantissa_bits, bias;  // of the exponent
  float largest;            // finite number
};
constexpr Fp8Traits traits_of(Fp8Format format) {
  return format == Fp8Format::e4m3 ? Fp8Traits{3, 7, 448.0f} : Fp8Traits{2, 15, 57344.0f};
}

/// The bits of the nearest number, ties to even; what is beyond the largest becomes the largest,
/// infinities too, and NaN stays.
constexpr std::uint8_t to_fp8(float x, Fp8Format format) {
  const Fp8Traits traits = traits_of(format);
  const auto bits = std::bit_cast<std::uint32_t>(x), sign = bits >> 24 & 0x80u;
  auto magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<std::uint8_t>(sign | 0x7fu);
  }
  const auto largest = std::bit_cast<std::uint32_t>(traits.largest);
  magnitude = magnitude < largest ? magnitude : largest;
  const auto dropped = static_cast<unsigned>(23 - traits.mantissa_bits);
  const auto smallest_normal = static_cast<std::uint32_t>(128 - traits.bias) << 23;
  if (magnitude < smallest_normal) {
    // Neighbours of this number are as far apart as subnormal ones of the format: adding it rounds.
    const auto shift = smallest_normal + (dropped << 23);
    const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(shift);
    return static_cast<std::uint8_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - shift));
  }
  const std::uint32_t odd = magnitude >> dropped & 1u;
  const std::uint32_t rounded = (magnitude + (1u << (dropped - 1)) - 1u + odd) >> dropped;
  const auto rebias = static_cast<std::uint32_t>(127 - traits.bias) << traits.mantissa_bits;
  return static_cast<std::uint8_t>(sign | (rounded - rebias));
}

/// The number that the bits stand for; exact.
constexpr float from_fp8(std::uint8_t bits, Fp8Format format) {
  const Fp8Traits traits = traits_of(format);
  const std::uint32_t magnitude = bits & 0x7fu, sign = (bits & 0x80u) << 24;
  const std::uint32_t infinity = format == Fp8Format::e4m3 ? 0x7fu : 0x7cu;
  if (magnitude >= infinity) {
    const bool is_infinite = format == Fp8Format::e5m2 && magnitude == infinity;
    return std::bit_cast<float>(sign | (is_infinite ? 0x7f800000u : 0x7fc00000u));
  }
  const auto least_exponent = static_cast<std::uint32_t>(128 - traits.bias);
  const auto exponent = magnitude >> traits.mantissa_bits;
  if (exponent == 0) {
    const float step = std::bit_cast<float>(
        (least_exponent - static_cast<std::uint32_t>(traits.mantissa_bits)) << 23);
    const float value = static_cast<float>(magnitude) * step;
    return sign != 0 ? -value : value;
  }
  const auto dropped = static_cast<unsigned>(23 - traits.mantissa_bits);
  return std::bit_cast<float>(sign | ((magnitude << dropped) + ((least_exponent - 1u) << 23)));
}

/// How numbers are brought into a format's range.
struct Fp8Scaling {
  Fp8Format format = Fp8Format::e4m3;
  bool power_of_two = false;  // the scale is the next lower one
  int margin = 0;             // powers of two that are left free above the largest value
};

/// What numbers up to `amax` (finite) are multiplied by: 2^-margin largest / amax, at most 2^126;
/// 1 where amax is 0.
constexpr float fp8_scale(float amax, const Fp8Scaling& scaling) {
  if (!(amax > 0)) {
    return 1;
  }
  constexpr float kMost = 0x1p126f;
  const float margin =
      std::bit_cast<float>(static_cast<std::uint32_t>(127 - scaling.margin) << 23);  // 2^-margin
  const float quotient = traits_of(scaling.format).largest / amax;
  const float scale = (quotient < kMost ? quotient : kMost) * margin;
  return scaling.power_of_two
             ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(scale) & 0x7f800000u)
             : scale;
}

/// |x|, or 0 where x is not finite: what a block's largest value is found from.
constexpr float finite_magnitude(float x) {
  const auto magnitude = std::bit_cast<std::uint32_t>(x) & 0x7fffffffu;
  return magnitude < 0x7f800000u ? std::bit_cast<float>(magnitude) : 0.0f;
}

}  // namespace mpitron
