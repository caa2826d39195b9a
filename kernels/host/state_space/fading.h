#pragma once
#include <cmath>
#include <vector>

#include "kernels/host/state_space/sample_rows.h"
#include "kernels/host/state_space/small_product.h"

namespace mpitron::kernels::host {

/// ln(1 + u) for u in [0, 1] to 2e-7 relative: the series of artanh(t) with t = u / (2 + u), which
/// is at most 1/3.
inline simd::Float log1p_of_power(simd::Float u) {
  const simd::Float t = u * simd::reciprocal(2.F + u), t2 = t * t;
  simd::Float p = simd::fma(simd::splat(1.F / 15), t2, simd::splat(1.F / 13));
  for (const float factor : {1.F / 11, 1.F / 9, 1.F / 7, 1.F / 5, 1.F / 3, 1.F}) {
    p = simd::fma(p, t2, simd::splat(factor));
  }
  return 2.F * t * p;
}

/// softplus of n numbers and its derivative; `x` may be `to`.
template <class Real>
void softplus(Index n, const Real* x, Real* to, Real* derivative) {
  if constexpr (std::is_same_v<Real, float>) {
    simd::for_lanes(n, [&](Index i, auto lanes) {
      const simd::Float value = simd::load(x + i, lanes), small = simd::exp(-simd::abs(value));
      const simd::Float part = simd::reciprocal(1.F + small);
      simd::store(to + i, simd::max(value, simd::Float{}) + log1p_of_power(small), lanes);
      simd::store(derivative + i, value >= 0.F ? part : small * part, lanes);
    });
  } else {
    for (Index i = 0; i < n; ++i) {
      const Real value = x[i], small = std::exp(-std::abs(value));
      to[i] = std::max(value, Real(0)) + std::log1p(small);
      derivative[i] = (value >= 0 ? 1 : small) / (1 + small);
    }
  }
}

/// A chunk of one sample: positions [first, first + count).
struct Chunk {
  Index sample, number, first, count;

  /// Row of this chunk among those of all samples, as states are kept: by number, then by sample.
  Index row(Index samples) const { return number * samples + sample; }
};

/// Returns the chunk `number`, of `size` positions but for the last one, of rows [s, b, ...].
inline Chunk chunk_of(const In& rows, Index size, Index sample, Index number) {
  const Index first = number * size;
  return {sample, number, first, std::min(size, rows.size(0) - first)};
}
inline Index chunks_of(const In& rows, Index size) {
  return (rows.size(0) + size - 1) / size;
}

/// How a state fades in a chunk: the logarithm a of the decay since the chunk's start, and what it
/// leaves of one position for another. Nothing is left of positions before a document's begin, and
/// of those whose decay is below e^kDeepest: no sum notices them, and numbers below the normal ones
/// would make products slow.
template <class Real>
class Fading {
 public:
  /// `a`: of each position; `first`: of each position the first one of its document, counted from
  /// the chunk's start.
  void set(std::vector<double> a, std::vector<Index> first) {
    a_ = std::move(a), seen_ = std::move(first), count_ = static_cast<Index>(a_.size());
    a_.resize(at((count_ + kBlock - 1) / kBlock * kBlock), a_.back());
    left_.resize(a_.size()), from_before_.resize(a_.size()), to_end_.resize(a_.size());
    std::ranges::transform(a_, left_.begin(), [end = a_.back()](double x) { return end - x; });
    powers(count_, a_.data(), from_before_.data());
    powers(count_, left_.data(), to_end_.data());
    const Index last_start = seen_.back();
    Index k = 0;
    for (Index i = 0; i < count_; ++i) {
      from_before_[at(i)] *= static_cast<Real>(seen_[at(i)] < 0);
      to_end_[at(i)] *= static_cast<Real>(i >= last_start);
      k = std::max(k, seen_[at(i)]);
      while (a_[at(i)] - a_[at(k)] < kDeepest) {
        ++k;
      }
      seen_[at(i)] = k;
    }
  }
  Index count() const { return count_; }
  /// What is left of the state before the chunk at position i; of position k, and of that state,
  /// at the chunk's end.
  const Real* from_before() const { return from_before_.data(); }
  const Real* to_end() const { return to_end_.data(); }
  Real kept() const { return from_before_[at(count_ - 1)]; }

  /// [count, count]: e^(a_i - a_k) below the diagonal and on it, 0 above and where nothing is left.
  void decays(Real* to) {
    if constexpr (std::is_same_v<Real, float>) {
      for (Index begin = 0; begin < count_; begin += kBlock) {
        if (begin + kBlock <= count_) {
          decay_columns(begin, to, simd::Full{});
        } else {
          decay_columns(begin, to, simd::Part{count_ - begin});
        }
      }
    } else {
      for (Index i = 0; i < count_; ++i, to += count_) {
        std::fill_n(to, count_, Real(0));
        for (Index k = seen_[at(i)]; k <= i; ++k) {
          to[k] = std::exp(a_[at(i)] - a_[at(k)]);
        }
      }
    }
  }

 private:
  static constexpr Index kBlock = simd::kLanes;
  static constexpr double kDeepest = sizeof(Real) == sizeof(float) ? -69 : -690;

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  static simd::Float power(simd::Float x) {
    return x < static_cast<float>(kDeepest) ? simd::Float{} : simd::exp(x);
  }
  /// to[i] = e^x[i], or 0 where x[i] is below kDeepest.
  static void powers(Index n, const double* x, Real* to) {
    if constexpr (std::is_same_v<Real, float>) {
      std::transform(x, x + n, to, [](double value) { return static_cast<float>(value); });
      simd::for_lanes(n, [&](Index i, auto lanes) {
        simd::store(to + i, power(simd::load(to + i, lanes)), lanes);
      });
    } else {
      std::transform(x, x + n, to,
                     [](double value) { return value < kDeepest ? 0 : std::exp(value); });
    }
  }
  /// a of position i minus that of each in the block from `begin` on.
  simd::Float differences(Index i, Index begin) const {
    using Doubles [[gnu::vector_size(128)]] = double;
    return __builtin_convertvector(a_[at(i)] - load_lanes<Doubles>(a_.data() + begin), simd::Float);
  }
  /// The columns of a block of positions. For later blocks a_i - a_k is the sum of two differences,
  /// neither above 0, so its power is the product of theirs.
  template <class Lanes>
  void decay_columns(Index begin, Real* to, Lanes lanes) {
    const simd::Int lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Index end = std::min(count_, begin + kBlock);
    const auto seen = [&](Index i) { return lane >= static_cast<int>(seen_[at(i)] - begin); };
    const auto row = [&](Index i, simd::Float x) {
      simd::store(to + i * count_ + begin, x, lanes);
    };
    for (Index i = 0; i < begin; ++i) {
      row(i, simd::Float{});
    }
    for (Index i = begin; i < end; ++i) {
      const simd::Int wanted = seen(i) & (lane <= static_cast<int>(i - begin));
      row(i, wanted ? simd::exp(differences(i, begin)) : simd::Float{});
    }
    const simd::Float left = power(differences(end - 1, begin));
    Index last = end;
    for (; last < count_ && seen_[at(last)] < end; ++last) {
      left_[at(last)] = a_[at(last)] - a_[at(end - 1)];
    }
    Real* const right = right_.room(count_);
    powers(last - end, left_.data() + end, right);
    for (Index i = end; i < last; ++i) {
      row(i, seen(i) ? right[i - end] * left : simd::Float{});
    }
    for (Index i = last; i < count_; ++i) {
      row(i, simd::Float{});
    }
  }

  Index count_ = 0;
  std::vector<double> a_;     // whole blocks, the last of which repeats the last number
  std::vector<Index> seen_;   // of each position the first one of which something is left
  std::vector<double> left_;  // differences
  std::vector<Real> from_before_, to_end_;
  Scratch<Real> right_;
};

}  // namespace mpitron::kernels::host
