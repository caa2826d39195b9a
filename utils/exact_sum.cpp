#include "utils/exact_sum.h"

#include <bit>
#include <cmath>
#include <limits>

namespace mpitron::exact_sum {
namespace {

constexpr int kDigits = kBins - 1, kDigitBits = 32;
constexpr int kLowest = -352;  // the first digit counts 2^kLowest
constexpr std::int64_t kDigitMask = (std::int64_t{1} << kDigitBits) - 1;

std::int64_t& not_finite(Bins bins) {
  return bins[kDigits];
}

}  // namespace

void add(Bins bins, double value) {
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
    ++not_finite(bins);
    return;
  }
  const auto shifted = static_cast<unsigned __int128>(mantissa) << place % kDigitBits;
  bins[digit] += static_cast<std::int64_t>(shifted) & kDigitMask;
  bins[digit + 1] += static_cast<std::int64_t>(shifted >> kDigitBits) & kDigitMask;
  bins[digit + 2] += static_cast<std::int64_t>(shifted >> 2 * kDigitBits);
}

void carry(Bins bins) {
  std::int64_t over = 0;
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    const std::int64_t sum = bins[digit] + over;
    bins[digit] = sum & kDigitMask;
    over = sum >> kDigitBits;
  }
  not_finite(bins) += over > 0 ? 1 : 0;
}

double value(Bins bins) {
  carry(bins);
  if (not_finite(bins) > 0) {
    return std::numeric_limits<double>::infinity();
  }
  double sum = 0;
  for (int digit = kDigits - 1; digit >= 0; --digit) {
    sum += std::ldexp(static_cast<double>(bins[static_cast<std::size_t>(digit)]),
                      kDigitBits * digit + kLowest);
  }
  return sum;
}

}  // namespace mpitron::exact_sum
