#pragma once
#include <cmath>
#include <vector>

#include "kernels/host/state_space/sample_rows.h"
#include "kernels/host/state_space/small_product.h"

namespace mpitron::kernels::host {

/// e^x, and 0 where that is less than what a sum of Real could notice: products with numbers below
/// the normal ones take a processor a hundred times as long.
template <class Real>
inline constexpr double kDeepest = sizeof(Real) == sizeof(float) ? -69 : -690;  // 2^-100
template <class Real>
void powers(Index n, const double* x, Real* to) {
  if constexpr (std::is_same_v<Real, float>) {
    std::transform(x, x + n, to, [](double value) { return static_cast<float>(value); });
    simd::for_lanes(n, [&](Index i, auto lanes) {
      const simd::Float value = simd::load(to + i, lanes);
      const simd::Float seen = simd::max(simd::splat(static_cast<float>(kDeepest<float>)), value);
      simd::store(to + i, value == seen ? simd::exp(seen) : simd::Float{}, lanes);
    });
  } else {
    std::transform(x, x + n, to, [](double value) {
      return value < kDeepest<Real> ? Real(0) : static_cast<Real>(std::exp(value));
    });
  }
}

/// How a state fades in a chunk: the logarithm a of the decay since the chunk's start, and what it
/// leaves of one position for another. Of positions before a document's begin nothing is left.
template <class Real>
class Fading {
 public:
  /// `a`: of each position; `first`: of each position the first one of its document, counted from
  /// the chunk's start.
  void set(std::vector<double> a, std::vector<Index> first) {
    a_ = std::move(a), seen_ = std::move(first);
    const Index n = count();
    from_before_.resize(a_.size()), to_end_ = from_before_;
    std::vector<double> left(a_.size());
    std::ranges::transform(a_, left.begin(), [end = a_.back()](double x) { return end - x; });
    powers(n, a_.data(), from_before_.data());
    powers(n, left.data(), to_end_.data());
    for (Index i = 0; i < n; ++i) {
      from_before_[at(i)] *= static_cast<Real>(seen_[at(i)] < 0);
      to_end_[at(i)] *= static_cast<Real>(i >= seen_.back());
    }
    Index k = 0;
    for (Index i = 0; i < n; ++i) {
      k = std::max(k, seen_[at(i)]);
      while (a_[at(i)] - a_[at(k)] < kDeepest<Real>) {
        ++k;
      }
      seen_[at(i)] = k;
    }
  }
  Index count() const { return static_cast<Index>(a_.size()); }
  /// What is left of the state before the chunk at position i; of position k, and of that state,
  /// at the chunk's end.
  const Real* from_before() const { return from_before_.data(); }
  const Real* to_end() const { return to_end_.data(); }
  Real kept() const { return from_before_.back(); }

  /// [count, count]: e^(a_i - a_k) below the diagonal and on it, 0 above. Between blocks of
  /// positions the power of the sum of two differences, neither above 0, is a product.
  void decays(Real* to) const {
    constexpr Index kBlock = 16;
    const Index n = count();
    std::vector<double> left(kBlock), right(a_.size());
    Real left_powers[kBlock];
    std::vector<Real> right_powers(a_.size());
    std::fill_n(to, n * n, Real(0));
    for (Index begin = 0; begin < n; begin += kBlock) {
      const Index end = std::min(n, begin + kBlock);
      for (Index i = begin; i < end; ++i) {
        const Index first = std::max(begin, seen_[at(i)]);
        differences(i, first, i + 1, left.data());
        powers(i + 1 - first, left.data(), to + i * n + first);
      }
      differences(end - 1, begin, end, left.data());
      powers(end - begin, left.data(), left_powers);
      const Index last = std::partition_point(seen_.begin() + end, seen_.end(),
                                              [end](Index first) { return first < end; }) -
                         seen_.begin();
      for (Index i = end; i < last; ++i) {
        right[at(i - end)] = a_[at(i)] - a_[at(end - 1)];
      }
      powers(last - end, right.data(), right_powers.data());
      for (Index i = end; i < last; ++i) {
        const Real by = right_powers[at(i - end)];
        for (Index k = std::max(begin, seen_[at(i)]); k < end; ++k) {
          to[i * n + k] = by * left_powers[k - begin];
        }
      }
    }
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  /// a of position i minus that of each in [begin, end).
  void differences(Index i, Index begin, Index end, double* to) const {
    for (Index k = begin; k < end; ++k) {
      to[k - begin] = a_[at(i)] - a_[at(k)];
    }
  }

  std::vector<double> a_;
  std::vector<Index> seen_;  // of each position the first one of which something is left
  std::vector<Real> from_before_, to_end_;
};

}  // namespace mpitron::kernels::host
