#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mpitron {

/// A sum of non-negative doubles without rounding: an integer in digits of 2^32, so that the result
/// depends neither on the order nor on who adds what. Two sums are added bin by bin (one integer
/// all-reduce). Holds 2^-352 (smaller parts are cut off) to 2^288 (beyond: infinite).
namespace exact_sum {

/// 20 digits, and how many summands were not finite.
inline constexpr int kBins = 21;
using Bins = std::span<std::int64_t, kBins>;

namespace detail {
inline constexpr int kDigits = kBins - 1, kDigitBits = 32;
inline constexpr int kLowest = -352;  // the first digit counts 2^kLowest
inline constexpr std::int64_t kDigitMask = (std::int64_t{1} << kDigitBits) - 1;
}  // namespace detail

/// At most 2^31 calls between two `carry`. Inline: kernels call it for every 64 elements.
inline void add(Bins bins, double value) {
  using namespace detail;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  mantissa |= exponent > 0 ? std::uint64_t{1} << 52 : 0;
  // value = mantissa * 2^(place + kLowest)
  int place = (exponent > 0 ? exponent : 1) - 1075 - kLowest;
  if (place < 0) {
    mantissa = place > -64 ? mantissa >> -place : 0;
    place = 0;
  }
  const auto digit = static_cast<std::size_t>(place / kDigitBits);
  if (digit + 3 > kDigits) {  // infinite, NaN, or too large
    ++bins[kDigits];
    return;
  }
  const auto shifted = static_cast<unsigned __int128>(mantissa) << place % kDigitBits;
  bins[digit] += static_cast<std::int64_t>(shifted) & kDigitMask;
  bins[digit + 1] += static_cast<std::int64_t>(shifted >> kDigitBits) & kDigitMask;
  bins[digit + 2] += static_cast<std::int64_t>(shifted >> 2 * kDigitBits);
}
/// The same for a finite float, which lies in two digits.
inline void add(Bins bins, float value) {
  using namespace detail;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xFF);
  const std::uint64_t mantissa = (bits & 0x7FFFFF) | (exponent > 0 ? 0x800000 : 0);
  const int place = (exponent > 0 ? exponent : 1) - 150 - kLowest;
  const std::uint64_t shifted = mantissa << place % kDigitBits;
  const auto digit = static_cast<std::size_t>(place / kDigitBits);
  bins[digit] += static_cast<std::int64_t>(shifted) & kDigitMask;
  bins[digit + 1] += static_cast<std::int64_t>(shifted >> kDigitBits);
}
/// Brings every digit below 2^32: before bins of several sums are added.
void carry(Bins bins);
/// The sum, rounded; infinite if a summand was not finite.
double value(Bins bins);

}  // namespace exact_sum
}  // namespace mpitron
