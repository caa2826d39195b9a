#pragma once
#include "kernels/host/simd.h"
#include "utils/exact_sum.h"

namespace mpitron::kernels::host {

/// Adds sixteen floats at a time to an exact sum (utils/exact_sum.h). Those of a window of 64
/// powers of two, in which nearly all sums of squares of a tensor lie, are added as integers in
/// lanes; the window follows the values.
class ExactLanes {
 public:
  explicit ExactLanes(exact_sum::Bins bins) : bins_(bins) {}
  ExactLanes(const ExactLanes&) = delete;
  ExactLanes& operator=(const ExactLanes&) = delete;
  ~ExactLanes() { flush(); }

  /// False, and nothing added, where a value is negative, infinite or NaN.
  [[gnu::always_inline]] bool add(simd::Float values) {
    const auto bits = (simd::UInt)values;
    if (!inside(bits)) [[unlikely]] {
      return add_outside(bits);
    }
    add_inside(bits);
    return true;
  }

 private:
  using Long [[gnu::vector_size(64)]] = std::int64_t;

  static constexpr int kDigitBits = exact_sum::detail::kDigitBits;
  static constexpr std::uint32_t kInfinity = 0x7F800000;
  /// The place of a float's last bit above that of the first bin, less its exponent.
  static constexpr int kPlace = -150 - exact_sum::detail::kLowest;
  static constexpr std::int64_t kEven = 0xFFFFFFFF;
  /// Shifted by up to 31, 24 bits become 55: a lane holds the sum of 256.
  static constexpr int kMostAdded = 256;

  static int digit_of(std::uint32_t bits) {
    return (std::max(static_cast<int>(bits >> 23), 1) + kPlace) / kDigitBits;
  }
  /// Whether all of them are zero or in the window.
  [[gnu::always_inline]] bool inside(simd::UInt bits) const {
    return !simd::any((bits - first_ >= size_) & (bits != 0u));
  }
  [[gnu::always_inline]] void add_inside(simd::UInt bits) {
    const simd::UInt biased = bits >> 23, mantissa = bits & 0x7FFFFFu;
    const simd::UInt normal = biased > 0u ? simd::UInt{} + 1u : simd::UInt{};
    // a subnormal counts from the same place as the smallest normal number
    const simd::UInt place = (biased - normal + 1u + static_cast<std::uint32_t>(kPlace)) -
                             static_cast<std::uint32_t>(kDigitBits * digit_);
    // lanes of 32 bits in pairs: the even ones, then the odd ones
    const auto mantissas = (Long)(mantissa | normal << 23), places = (Long)place;
    add_eight(mantissas & kEven, places & kEven);
    add_eight(mantissas >> 32, places >> 32);
    if (++added_ == kMostAdded) [[unlikely]] {
      flush();
    }
  }
  [[gnu::always_inline]] void add_eight(Long mantissa, Long place) {
    const Long value = mantissa << (place & (kDigitBits - 1)), upper = place >= kDigitBits;
    lower_ += value & ~upper;
    upper_ += value & upper;
  }

  [[gnu::noinline]] bool add_outside(simd::UInt bits) {
    std::uint32_t largest = 0;
    for (int lane = 0; lane < simd::kLanes; ++lane) {
      largest = std::max<std::uint32_t>(largest, bits[lane]);
    }
    if (largest >= kInfinity) {
      return false;
    }
    move_window(largest);
    if (inside(bits)) {
      add_inside(bits);
      return true;
    }
    for (int lane = 0; lane < simd::kLanes; ++lane) {
      exact_sum::add(bins_, ((simd::Float)bits)[lane]);
    }
    return true;
  }
  /// To the digit of the largest value and the one below.
  void move_window(std::uint32_t largest) {
    flush();
    digit_ = digit_of(largest) - 1;
    const int exponent = kDigitBits * digit_ - kPlace;
    const auto end = std::min<std::uint32_t>(
        kInfinity, static_cast<std::uint32_t>(exponent + 2 * kDigitBits) << 23);
    first_ = exponent <= 1 ? 0 : static_cast<std::uint32_t>(exponent) << 23;
    size_ = end - first_;
  }
  void flush() {
    for (int lane = 0; lane < 8; ++lane) {
      const auto digit = static_cast<std::size_t>(digit_);
      for (const auto& [at, sum] : {std::pair(digit, lower_[lane]), {digit + 1, upper_[lane]}}) {
        bins_[at] += sum & exact_sum::detail::kDigitMask;
        bins_[at + 1] += sum >> kDigitBits;
      }
    }
    lower_ = upper_ = Long{};
    added_ = 0;
  }

  exact_sum::Bins bins_;
  Long lower_{}, upper_{};  // sums of the digits digit_ and digit_ + 1, not yet carried
  int digit_ = 0, added_ = 0;
  std::uint32_t first_ = 0, size_ = 0;  // the window, as bits of a float
};

}  // namespace mpitron::kernels::host
