#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/host/common/views.h"

// What the host's kernels of convolutions and recurrences share: fp32 arithmetic on fp32, bf16 and
// fp16 numbers, fp64 on fp64, and rows of one sample of a view.

namespace mpitron::kernels::host {

using device::In;
using device::InOut;

/// f<T, Real>() with the type in memory and the one of the arithmetic.
template <class F>
void visit_scan_types(DType dtype, F&& f) {
  if (dtype == DType::f64) {
    f.template operator()<double, double>();
  } else {
    visit_dtype(dtype, [&]<class T>() { f.template operator()<T, float>(); });
  }
}

/// The value, by way of the type of the arithmetic.
template <class T>
double as_double(T x) {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  return static_cast<double>(static_cast<Real>(x));
}

/// Element `at` of a contiguous view of any floating-point type.
inline double number_at(const In& view, Index at) {
  if (view.dtype == DType::f64) {
    return view.as<double>()[at];
  }
  return visit_dtype(view.dtype, [&]<class T>() { return as_double(view.as<T>()[at]); });
}

/// view[at] = value, or += with `accumulate`: added in double, rounded to the type of
/// the arithmetic and then to that of the view.
inline void put_number(const InOut& view, Index at, double value, bool accumulate) {
  const double before = accumulate ? number_at(view, at) : 0;
  visit_scan_types(view.dtype, [&]<class T, class Real>() {
    view.as<T>()[at] = T(static_cast<Real>(before + value));
  });
}

/// Rows of one sample, and columns of them, of a view [s, b, columns].
template <class T>
class SampleRows {
 public:
  template <class View>
  SampleRows(const View& view, Index sample, Index first_column)
      : data_(view.template as<std::remove_const_t<T>>() + sample * view.stride(1) + first_column),
        stride_(view.stride(0)) {}
  T* operator[](Index i) const { return data_ + i * stride_; }
  /// to[i][j] = this[first + i][j], contiguous, in the type of the arithmetic.
  template <class Real>
  void read(Index first, Index count, Index columns, Real* to) const {
    for (Index i = 0; i < count; ++i, to += columns) {
      const T* const row = (*this)[first + i];
      if constexpr (std::is_same_v<Real, float>) {
        simd::for_lanes(columns, [&](Index j, auto lanes) {
          simd::store(to + j, simd::load(row + j, lanes), lanes);
        });
      } else {
        std::transform(row, row + columns, to, [](T x) { return static_cast<Real>(x); });
      }
    }
  }
  /// The reverse, rounded to T.
  template <class Real>
  void write(Index first, Index count, Index columns, const Real* from) const {
    for (Index i = 0; i < count; ++i, from += columns) {
      T* const row = (*this)[first + i];
      if constexpr (std::is_same_v<Real, float>) {
        simd::for_lanes(columns, [&](Index j, auto lanes) {
          simd::store(row + j, simd::load(from + j, lanes), lanes);
        });
      } else {
        std::transform(from, from + columns, row, [](Real x) { return T(x); });
      }
    }
  }

 private:
  T* data_;
  Index stride_;
};

}  // namespace mpitron::kernels::host
