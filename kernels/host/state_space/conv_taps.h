#pragma once
#include <algorithm>
#include <vector>

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/state_space/sample_rows.h"

namespace mpitron::kernels::host {

/// The weights [c, 1, width] and the bias [c] of `count` channels, as fp32 and turned, so that the
/// channels of one tap lie side by side: what the vectors of a convolution load. A bias that is not
/// there is 0.
class Taps {
 public:
  Taps(const In& weight, const In& bias, Index begin, Index count)
      : width_(weight.size(2)),
        columns_((count + simd::kLanes - 1) / simd::kLanes * simd::kLanes),
        values_(static_cast<std::size_t>((width_ + 1) * columns_), 0.F) {
    visit_dtype(weight.dtype, [&]<class T>() {
      const T* from = weight.as<T>() + begin * width_;
      for (Index channel = 0; channel < count; ++channel, from += width_) {
        for (Index tap = 0; tap < width_; ++tap) {
          row(tap)[channel] = static_cast<float>(from[tap]);
        }
      }
    });
    if (bias) {
      visit_dtype(bias.dtype, [&]<class T>() {
        std::transform(bias.as<T>() + begin, bias.as<T>() + begin + count, row(width_),
                       [](T x) { return static_cast<float>(x); });
      });
    }
  }
  Index width() const { return width_; }
  float* row(Index k) { return values_.data() + k * columns_; }
  const float* row(Index k) const { return values_.data() + k * columns_; }
  const float* bias() const { return row(width_); }

 private:
  Index width_, columns_;
  std::vector<float> values_;
};

inline constexpr Index kConvSteps = 8;  // positions that share what they load
inline constexpr Index kUsualTaps = 4;  // of a convolution that has such steps

/// What the activation gets at kConvSteps positions from i on in lanes c, where all taps see rows
/// of x; what is loaded is kept in `inputs`.
struct ConvSteps {
  simd::Float taps[kUsualTaps], inputs[kUsualTaps - 1 + kConvSteps], sums[kConvSteps];

  template <class T, class Lanes>
  [[gnu::always_inline]] ConvSteps(const SampleRows<const T>& x, const Taps& from, Index i, Index c,
                                   Lanes lanes) {
#pragma GCC unroll 4
    for (Index k = 0; k < kUsualTaps; ++k) {
      taps[k] = simd::load(from.row(k) + c, lanes);
    }
#pragma GCC unroll 16
    for (Index step = 0; step < kUsualTaps - 1 + kConvSteps; ++step) {
      inputs[step] = simd::load(x[i - kUsualTaps + 1 + step] + c, lanes);
    }
#pragma GCC unroll 8
    for (Index step = 0; step < kConvSteps; ++step) {
      fetch(x[i + kConvSteps + step] + c);
      sums[step] = simd::load(from.bias() + c, lanes);
#pragma GCC unroll 4
      for (Index k = 0; k < kUsualTaps; ++k) {
        sums[step] = simd::fma(inputs[step + k], taps[k], sums[step]);
      }
    }
  }
};

}  // namespace mpitron::kernels::host
