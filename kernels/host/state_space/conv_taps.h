#pragma once
#include <vector>

#include "kernels/host/common/views.h"

namespace mpitron::kernels::host {

/// weight[k][c] and the bias of a tile of channels, fp32.
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

/// One tile of channels of one sample of a view [s, b, c].
template <class T>
class TileRows {
 public:
  template <class View>
  TileRows(const View& view, Index sample, Index begin)
      : data_(view.template as<std::remove_const_t<T>>() + sample * view.stride(1) + begin),
        stride_(view.stride(0)) {}
  T* operator[](Index i) const { return data_ + i * stride_; }

 private:
  T* data_;
  Index stride_;
};

}  // namespace mpitron::kernels::host
