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

/// A summand in digits: part[i] is added to bin `first` + i. At most 2^31 summands between two
/// `carry`. constexpr: GPUs use it too.
struct Summand {
  int first;
  std::int64_t part[3];
};

constexpr Summand summand_of(double value) {
  using detail::kDigits, detail::kDigitBits, detail::kDigitMask, detail::kLowest;
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
  const int digit = place / kDigitBits;
  if (digit + 3 > kDigits) {  // infinite, NaN, or too large
    return {kDigits, {1, 0, 0}};
  }
  const auto shifted = static_cast<unsigned __int128>(mantissa) << place % kDigitBits;
  return {digit,
          {static_cast<std::int64_t>(shifted) & kDigitMask,
           static_cast<std::int64_t>(shifted >> kDigitBits) & kDigitMask,
           static_cast<std::int64_t>(shifted >> 2 * kDigitBits)}};
}
/// The same of a finite float, which lies in two digits.
constexpr Summand summand_of(float value) {
  using detail::kDigitBits, detail::kDigitMask, detail::kLowest;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xFF);
  const std::uint64_t mantissa = (bits & 0x7FFFFF) | (exponent > 0 ? 0x800000 : 0);
  const int place = (exponent > 0 ? exponent : 1) - 150 - kLowest;
  const std::uint64_t shifted = mantissa << place % kDigitBits;
  return {place / kDigitBits,
          {static_cast<std::int64_t>(shifted) & kDigitMask,
           static_cast<std::int64_t>(shifted >> kDigitBits), 0}};
}

/// A double, or a finite float, this often: -1 takes away what was added. Inline: kernels call it
/// for every 64 elements.
template <class T>
void add(Bins bins, T value, int times = 1) {
  const Summand summand = summand_of(value);
  for (int i = 0; i < 3; ++i) {
    if (summand.part[i] != 0) {
      bins[static_cast<std::size_t>(summand.first + i)] += times * summand.part[i];
    }
  }
}
/// Brings every digit below 2^32: before bins of several sums are added.
void carry(Bins bins);
/// The sum, rounded; infinite if a summand was not finite.
double value(Bins bins);

}  // namespace exact_sum
}  // namespace mpitron
