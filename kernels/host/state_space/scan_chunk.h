#pragma once
#include <cmath>
#include <vector>

#include "kernels/host/common/parallel.h"
#include "kernels/host/state_space/sample_rows.h"
#include "kernels/host/state_space/small_product.h"
#include "kernels/state_space/selective_scan.h"

namespace mpitron::kernels::host {

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
    const std::vector<Index> seen = first_seen<Real>();
    std::fill_n(to, n * n, Real(0));
    for (Index begin = 0; begin < n; begin += kBlock) {
      const Index end = std::min(n, begin + kBlock);
      for (Index k = begin; k < end; ++k) {
        left[at(k)] = static_cast<Real>(power<Real>(a[at(end - 1)] - a[at(k)]));
        for (Index i = k; i < end; ++i) {
          to[i * n + k] = static_cast<Real>(power<Real>(a[at(i)] - a[at(k)]));
        }
      }
      for (Index i = end; i < n && seen[at(i)] < end; ++i) {
        const Real right = static_cast<Real>(power<Real>(a[at(i)] - a[at(end - 1)]));
        for (Index k = std::max(begin, seen[at(i)]); k < end; ++k) {
          to[i * n + k] = right * left[at(k)];
        }
      }
    }
  }
  /// e^x, and 0 where that is less than what a sum of Real could notice: products with numbers
  /// below the normal ones take a processor a hundred times as long.
  template <class Real>
  static double power(double x) {
    return x < kDeepest<Real> ? 0 : std::exp(x);
  }

 private:
  template <class Real>
  static constexpr double kDeepest = sizeof(Real) == sizeof(float) ? -69 : -690;  // 2^-100

  /// Of each position the first one of which something is left; later ones see no earlier ones.
  template <class Real>
  std::vector<Index> first_seen() const {
    std::vector<Index> seen(a.size());
    Index k = 0;
    for (Index i = 0; i < count(); ++i) {
      while (a[at(i)] - a[at(k)] < kDeepest<Real>) {
        ++k;
      }
      seen[at(i)] = k;
    }
    return seen;
  }
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
