#pragma once
#include "kernels/host/attention/attention_problem.h"
#include "kernels/host/common/simd.h"

namespace mpitron::kernels::host::attention {

/// Bounds the scores of a block: scale q k becomes cap tanh(scale q k / cap). Without a cap every
/// call does nothing.
class SoftCap {
 public:
  template <class T>
  explicit SoftCap(const Problem<T>& problem)
      : inward_(problem.softcap > 0 ? problem.scale / problem.softcap : 0),
        outward_(problem.softcap > 0 ? problem.softcap / problem.scale : 0) {}

  bool active() const { return inward_ > 0; }

  /// Bounds scores in units of raw ones, q k.
  template <int N>
  [[gnu::always_inline]] void bound(Block<N>& scores) const {
    if (active()) {
      in_memory(scores, [&](simd::Float x) { return outward_ * simd::tanh(inward_ * x); });
    }
  }
  /// Bounded scores become the derivatives of `bound`.
  template <int N>
  [[gnu::always_inline]] void differentiate(Block<N>& bounded) const {
    in_memory(bounded, [&](simd::Float x) {
      const simd::Float share = inward_ * x;
      return 1.f - share * share;
    });
  }

 private:
  /// By way of memory, and only there: the compiler keeps a block in registers where its address
  /// is not taken.
  template <int N, class F>
  [[gnu::always_inline]] static void in_memory(Block<N>& block, const F& f) {
    alignas(64) float values[kRows][kCols];
    for_block<N>([&](int m, int n) { store(values[m] + 16 * n, block[m][n]); });
    replace<N>(values, f);
    for_block<N>([&](int m, int n) { block[m][n] = load(values[m] + 16 * n); });
  }
  template <int N, class F>
  [[gnu::noinline]] static void replace(float (&values)[kRows][kCols], const F& f) {
    for_block<N>(
        [&](int m, int n) { simd::store(values[m] + 16 * n, f(simd::load(values[m] + 16 * n))); });
  }

  float inward_, outward_;
};

}  // namespace mpitron::kernels::host::attention
