#pragma once
#include <cmath>

#include "kernels/host/common/simd.h"
#include "utils/numbers/exact_sum.h"

namespace mpitron::kernels::host {

/// Adds sixteen floats at a time to an exact sum (exact_sum.h). Those of a window of 61
/// powers of two, in which nearly all sums of squares of a tensor lie, are added in fp64 without
/// rounding: in two parts, the second of which takes what the first rounds off. The window follows
/// the values.
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
    add_inside(values);
    return true;
  }

 private:
  using Double = simd::Double;
  /// A part counts from a number that fixes the place of its last bit: with at most `kMostAdded`
  /// summands it stays between two powers of two.
  struct Sum {
    Double high, low;
  };

  static constexpr std::uint32_t kInfinity = 0x7F800000;
  static constexpr int kMostAdded = 1024;
  /// Room of the window above the largest value, in powers of two: the next may be larger.
  static constexpr int kRoom = 4;
  static constexpr int kWindow = 61;

  /// Whether all of them are zero or in the window.
  [[gnu::always_inline]] bool inside(simd::UInt bits) const {
    return !simd::any((bits - first_ >= size_) & (bits != 0u));
  }
  [[gnu::always_inline]] void add_inside(simd::Float x) {
    add_eight(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7), sums_[0]);
    add_eight(__builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15), sums_[1]);
    if (++added_ == kMostAdded) [[unlikely]] {
      flush();
    }
  }
  template <class EightFloats>
  [[gnu::always_inline]] static void add_eight(EightFloats x, Sum& sum) {
    const Double value = __builtin_convertvector(x, Double), next = sum.high + value;
    sum.low += value - (next - sum.high);
    sum.high = next;
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
      add_inside((simd::Float)bits);
      return true;
    }
    for (int lane = 0; lane < simd::kLanes; ++lane) {
      exact_sum::add(bins_, ((simd::Float)bits)[lane]);
    }
    return true;
  }
  /// Values below 2^end: 1024 of them stay below 2^(end + 10), a quarter of what `high` counts from
  /// is twice that. Its last bit is 2^(end - 41), so 1024 of what it rounds off stay within
  /// 2^(end - 32), and the last bit of `low` is 2^(end - 84): that of a float from 2^(end - 61) on.
  void move_window(std::uint32_t largest) {
    flush();
    constexpr int kBias = 127, kMantissa = 23;
    const int end = std::max(static_cast<int>(largest >> kMantissa), 1) - kBias + 1 + kRoom;
    const int begin = end - kWindow;
    first_ = begin <= 1 - kBias ? 0 : static_cast<std::uint32_t>(begin + kBias) << kMantissa;
    size_ = std::min(kInfinity, static_cast<std::uint32_t>(end + kBias) << kMantissa) - first_;
    high_from_ = std::ldexp(1.5, end + 11);
    low_from_ = std::ldexp(1.5, end - 32);
    clear();
  }
  void flush() {
    if (added_ > 0) {
      for (const Sum& sum : sums_) {
        for (int lane = 0; lane < simd::kDoubles; ++lane) {
          const double low = sum.low[lane] - low_from_;
          exact_sum::add(bins_, sum.high[lane] - high_from_);
          exact_sum::add(bins_, std::abs(low), low < 0 ? -1 : 1);
        }
      }
    }
    clear();
  }
  void clear() {
    for (Sum& sum : sums_) {
      sum = {Double{} + high_from_, Double{} + low_from_};
    }
    added_ = 0;
  }

  exact_sum::Bins bins_;
  Sum sums_[2]{};
  int added_ = 0;
  double high_from_ = 0, low_from_ = 0;
  std::uint32_t first_ = 0, size_ = 0;  // the window, as bits of a float
};

}  // namespace mpitron::kernels::host
