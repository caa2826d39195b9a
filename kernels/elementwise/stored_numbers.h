#pragma once
#include <bit>
#include <cstdint>

#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// Numerical contract of stored numbers: what becomes of fp32 in each type
//   fp32       stays what it is
//   bf16       rounded to nearest even
//   fp16, u8   scaled, then rounded to nearest even; u8 is e4m3 (four bits of exponent, three of
//              fraction; 448 is the largest, there is no infinity). A block of 64 elements, counted
//              from the first, is multiplied by the power of two that brings its largest magnitude,
//              rounded to the type's fraction, into [2^14, 2^15] or [2^7, 2^8]
//   i16        nothing is lost: `upper` is the nearest bf16 (ties away from zero), and the stored
//              integer is what is to be added to its bits, as the upper half of fp32, to get x's
// Numbers that have been read are stored again with the same bits. An infinity or NaN in e4m3 is
// NaN. A tensor that is cut at multiples of 64 has the same bits in any pieces.

/// fp32 numbers, flat, as they are stored.
struct StoredNumbers {
  InOut values;                // [n]; fp32, bf16, fp16, u8 or i16 (reference: fp64 as well)
  InOut exponents = {};        // [blocks(n)], u8: of scaled types; absent: fp16 is not scaled
  InOut upper = {};            // [n], bf16: with i16
  bool keeps_nonzero = false;  // positive numbers do not round to zero, but to the smallest above

  static constexpr Index kBlock = 64;
  static constexpr Index blocks(Index n) { return (n + kBlock - 1) / kBlock; }

  StoredNumbers() = default;
  StoredNumbers(const device::TensorView& values_)
      : values(values_) {}  // NOLINT(google-explicit-constructor): stored as they are
  StoredNumbers(const InOut& values_, const InOut& exponents_, const InOut& upper_,
                bool keeps_nonzero_)
      : values(values_), exponents(exponents_), upper(upper_), keeps_nonzero(keeps_nonzero_) {}

  Index numel() const { return values.numel(); }

  template <class F>
  void views(const char* name, F&& f) const {
    f(name, values), f("exponents", exponents), f("upper", upper);
  }
};

/// Reads the numbers as fp32.
struct ReadStored {
  static constexpr const char* name = "read_stored";
  StoredNumbers x;
  Out y;  // [n], fp32

  template <class F>
  void views(F&& f) const {
    x.views("x", f), f("y", y);
  }
};

/// Stores numbers; with i16 `upper` is written as well.
struct WriteStored {
  static constexpr const char* name = "write_stored";
  In x;  // [n], fp32
  StoredNumbers y;

  template <class F>
  void views(F&& f) const {
    f("x", x), y.views("y", f);
  }
};

void run(device::ReferenceStream&, const ReadStored&);
void run(device::ReferenceStream&, const WriteStored&);
void run(device::HostStream&, const ReadStored&);
void run(device::HostStream&, const WriteStored&);
void run(device::CudaStream&, const ReadStored&);
void run(device::CudaStream&, const WriteStored&);

/// Formulas for one number, or the scale of one block: the definition that all devices share.
namespace stored {

constexpr std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
constexpr float float_of(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
constexpr std::uint32_t magnitude_bits(float x) {
  return bits_of(x) & 0x7fffffffu;
}

/// A type whose numbers are scaled.
struct Scaled {
  std::uint32_t fraction_bits;
  std::uint32_t top;  // a block's largest magnitude comes to 2^top or more
  float smallest;     // positive number
};
constexpr Scaled fp16() {
  return {10, 14, 0x1p-24f};
}
constexpr Scaled e4m3() {
  return {3, 7, 0x1p-9f};
}

/// The exponent of a block, as fp32 counts it, from the bits of its largest magnitude. Rounding to
/// the type may carry into the exponent: what is stored then counts. Numbers below 2^-111 are
/// scaled as those above, so that all scales are normal numbers.
constexpr std::uint8_t block_exponent(std::uint32_t largest, const Scaled& type) {
  const std::uint32_t exponent = (largest + (1u << (22 - type.fraction_bits))) >> 23;
  return static_cast<std::uint8_t>(exponent < 16 ? 16 : exponent > 255 ? 255 : exponent);
}
/// Factors of a block's numbers before they are rounded, and after they are read. Both are powers
/// of two, so they change no fraction.
constexpr float scale(std::uint8_t exponent, const Scaled& type) {
  return float_of((254 + type.top - exponent) << 23);
}
constexpr float inverse_scale(std::uint8_t exponent, const Scaled& type) {
  return float_of((exponent - type.top) << 23);
}
/// Replaces a scaled number that would round to zero by the smallest positive one.
constexpr float above_zero(float x, const Scaled& type) {
  return x > 0 && x < type.smallest ? type.smallest : x;
}

/// Rounds to e4m3 by its bits: to nearest even, beyond 448 to NaN.
constexpr std::uint8_t e4m3_of(float x) {
  const std::uint32_t sign = bits_of(x) >> 24 & 0x80u, magnitude = magnitude_bits(x);
  const std::uint32_t normal = (magnitude + 0x7ffffu + (magnitude >> 20 & 1u) - (120u << 23)) >> 20;
  // Adding 2^14 lets the processor round at the last bit of a subnormal number, 2^-9.
  const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0x1p14f) - bits_of(0x1p14f);
  const std::uint32_t code = magnitude > bits_of(448.f)     ? 0x7fu
                             : magnitude < bits_of(0x1p-6f) ? subnormal
                                                            : normal;
  return static_cast<std::uint8_t>(sign | code);
}
/// Widens e4m3, exactly.
constexpr float from_e4m3(std::uint8_t x) {
  const std::uint32_t sign = (x & 0x80u) << 24, code = x & 0x7fu;
  const std::uint32_t magnitude = code == 0x7f ? 0x7fc00000u
                                  : code >= 8  ? (code << 20) + (120u << 23)
                                               : bits_of(static_cast<float>(code) * 0x1p-9f);
  return float_of(sign | magnitude);
}

/// Splits fp32 into the nearest bf16 and what is missing to it; `whole` joins them, exactly.
struct Halves {
  std::uint16_t upper;
  std::int16_t rest;
};
constexpr Halves halves_of(float x) {
  const auto rest = static_cast<std::int16_t>(bits_of(x) & 0xffffu);
  const std::uint32_t upper = bits_of(x) - static_cast<std::uint32_t>(std::int32_t{rest});
  return {static_cast<std::uint16_t>(upper >> 16), rest};
}
constexpr float whole(const Halves& halves) {
  return float_of((static_cast<std::uint32_t>(halves.upper) << 16) +
                  static_cast<std::uint32_t>(std::int32_t{halves.rest}));
}

}  // namespace stored
}  // namespace mpitron::kernels
