#include "utils/numbers/exact_sum.h"

#include <cmath>
#include <limits>

namespace mpitron::exact_sum {
namespace {

using namespace detail;

std::int64_t& not_finite(Bins bins) {
  return bins[kDigits];
}

}  // namespace

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
