#pragma once
#include "kernels/host/common/several.h"
#include "kernels/host/state_space/conv_taps.h"

namespace mpitron::kernels::host {

/// What the activation gets of kSteps rows from `i` on in lanes c, by a convolution of kTaps taps
/// that all see their document: the rows share what is loaded, which is kept in `inputs`.
///
/// Numerical contract: the bias, then fp32 multiply-adds tap by tap, as one row alone.
struct ConvSteps {
  static constexpr Index kSteps = 8, kTaps = 4;
  static constexpr Index kTogether = Several::kCount;
  simd::Float taps[kTaps], inputs[kTaps - 1 + kSteps], sums[kSteps];

  template <class T, class Lanes>
  [[gnu::always_inline]] ConvSteps(const SampleRows<const T>& x, const Taps& from, Index i, Index c,
                                   Lanes lanes) {
#pragma GCC unroll 4
    for (Index tap = 0; tap < kTaps; ++tap) {
      taps[tap] = simd::load(from.row(tap) + c, lanes);
    }
#pragma GCC unroll 16
    for (Index step = 0; step < kTaps - 1 + kSteps; ++step) {
      inputs[step] = simd::load(x[i - kTaps + 1 + step] + c, lanes);
    }
#pragma GCC unroll 8
    for (Index step = 0; step < kSteps; ++step) {
      fetch(x[i + kSteps + step] + c);
      sums[step] = simd::load(from.bias() + c, lanes);
#pragma GCC unroll 4
      for (Index tap = 0; tap < kTaps; ++tap) {
        sums[step] = simd::fma(inputs[step + tap], taps[tap], sums[step]);
      }
    }
  }

  /// Sums of rows that are activated side by side, the first of which is `step`.
  [[gnu::always_inline]] Several together(Index step) const {
    return {{sums[step], sums[step + 1], sums[step + 2], sums[step + 3]}};
  }
};

}  // namespace mpitron::kernels::host
