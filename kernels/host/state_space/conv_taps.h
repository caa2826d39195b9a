#pragma once
#include <algorithm>
#include <vector>

#include "kernels/host/state_space/sample_rows.h"

namespace mpitron::kernels::host {

/// The weights [c, 1, width] and the bias [c] of a tile of channels, as fp32 and turned, so that
/// the channels of one tap lie side by side: what the vectors of a convolution load. Channels
/// beyond the tile's `count`, and a bias that is not there, are 0.
class Taps {
 public:
  static constexpr Index kColumns = 64;  // a tile stays in the nearest cache

  Taps(const In& weight, const In& bias, Index begin, Index count)
      : width_(weight.size(2)), values_(static_cast<std::size_t>((width_ + 1) * kColumns), 0.F) {
    visit_dtype(weight.dtype, [&]<class T>() {
      const T* from = weight.as<T>() + begin * width_;
      for (Index i = 0; i < count * width_; ++i) {
        row(i % width_)[i / width_] = static_cast<float>(from[i]);
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
  float* row(Index k) { return values_.data() + k * kColumns; }
  const float* row(Index k) const { return values_.data() + k * kColumns; }
  const float* bias() const { return row(width_); }

 private:
  Index width_;
  std::vector<float> values_;
};

}  // namespace mpitron::kernels::host
