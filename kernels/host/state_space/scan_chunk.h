#pragma once
#include <cmath>
#include <vector>

#include "kernels/host/common/parallel.h"
#include "kernels/host/state_space/small_product.h"
#include "kernels/state_space/selective_scan.h"

namespace mpitron::kernels::host {

/// f<T, Real>() with the type in memory and the one of the arithmetic.
template <class F>
void visit_scan_types(DType dtype, F&& f) {
  if (dtype == DType::f64) {
    f.template operator()<double, double>();
  } else {
    visit_dtype(dtype, [&]<class T>() { f.template operator()<T, float>(); });
  }
}

template <class T>
double as_double(T x) {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  return static_cast<double>(static_cast<Real>(x));
}

inline double number_at(const In& view, Index at) {
  if (view.dtype == DType::f64) {
    return view.as<double>()[at];
  }
  return visit_dtype(view.dtype, [&]<class T>() { return as_double(view.as<T>()[at]); });
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
  template <class Real>
  void read(Index first, Index count, Index columns, Real* to) const {
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < columns; ++j) {
        to[i * columns + j] = static_cast<Real>((*this)[first + i][j]);
      }
    }
  }
  template <class Real>
  void write(Index first, Index count, Index columns, const Real* from) const {
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < columns; ++j) {
        (*this)[first + i][j] = T(from[i * columns + j]);
      }
    }
  }

 private:
  T* data_;
  Index stride_;
};

/// Steps of one head in a chunk: dt, and the logarithm a of the decay since the chunk's start.
struct ChunkSteps {
  std::vector<double> dt, opening, a;  // opening: the derivative of softplus

  template <class T>
  void read(const SampleRows<const T>& rows, Index first, Index count, double bias, double rate) {
    dt.resize(static_cast<std::size_t>(count)), opening = a = dt;
    double sum = 0;
    for (std::size_t i = 0; i < dt.size(); ++i) {
      const double raw = as_double(rows[first + static_cast<Index>(i)][0]) + bias;
      const double small = std::exp(-std::abs(raw));
      dt[i] = std::max(raw, 0.0) + std::log1p(small);
      opening[i] = (raw >= 0 ? 1 : small) / (1 + small);
      sum += dt[i] * rate;
      a[i] = sum;
    }
  }
  Index count() const { return static_cast<Index>(a.size()); }
  double whole() const { return a.back(); }
  /// [count, count]: e^(a_i - a_k) below the diagonal and on it, 0 above. Between blocks of
  /// positions the power of the sum of two differences, neither above 0, is a product.
  template <class Real>
  void decays(Real* to) const {
    constexpr Index kBlock = 16;
    const Index n = count();
    std::vector<Real> left(a.size());
    for (Index begin = 0; begin < n; begin += kBlock) {
      const Index end = std::min(n, begin + kBlock);
      for (Index k = begin; k < end; ++k) {
        left[at(k)] = power(a[at(end - 1)] - a[at(k)]);
        for (Index i = begin; i < end; ++i) {
          to[i * n + k] = i < k ? 0 : static_cast<Real>(power(a[at(i)] - a[at(k)]));
        }
      }
      for (Index i = 0; i < begin; ++i) {
        std::fill_n(to + i * n + begin, end - begin, Real(0));
      }
      for (Index i = end; i < n; ++i) {
        const Real right = static_cast<Real>(power(a[at(i)] - a[at(end - 1)]));
        for (Index k = begin; k < end; ++k) {
          to[i * n + k] = right * left[at(k)];
        }
      }
    }
  }
  static double power(double x) { return std::exp(x); }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
};

/// Zeros of one type, kept from chunk to chunk.
template <class Real>
class Scratch {
 public:
  Real* zeros(Index n) {
    values_.assign(static_cast<std::size_t>(n), Real(0));
    return values_.data();
  }
  Real* data() { return values_.data(); }

 private:
  std::vector<Real> values_;
};

}  // namespace mpitron::kernels::host
