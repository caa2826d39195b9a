#pragma once
#include <algorithm>
#include <vector>

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

}  // namespace mpitron::kernels::host
