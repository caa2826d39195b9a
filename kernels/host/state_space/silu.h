#pragma once
#include <type_traits>

#include "kernels/host/common/several.h"

// The activation of convolutions and gates, x sigmoid(x), with its slope. Numerical contract: fp32
// arithmetic; the sigmoid of a kernel of fp32 numbers to 3e-7 relative, in kernels of bf16 and fp16
// to 2e-7 + 1e-7 |x|. There the results are rounded to 5e-4 at best, and a power of two takes two
// thirds of the operations that one of e does.

namespace mpitron::kernels::host {

/// e^-x, bounded so that 1 more than it is finite, on the way to results of type T. V is one vector
/// or several.
template <class T, class V>
[[gnu::always_inline]] inline V power_of_minus(const V& x) {
  using simd::Float;
  if constexpr (std::is_same_v<T, float>) {
    return step(
        [](Float y)
            __attribute__((always_inline)) { return simd::exp(simd::min(simd::splat(80.F), -y)); },
        x);
  } else {
    constexpr float kMinusLog2e = -1.44269504F, kMost = 115.F;
    const V exponent = step(
        [](Float y) __attribute__((always_inline)) {
          return simd::min(simd::splat(kMost), y * kMinusLog2e);
        },
        x);
    const V fraction = step(
        [](Float y) __attribute__((always_inline)) { return simd::fraction(y); }, exponent);
    const V power = step(
        [](Float y) __attribute__((always_inline)) { return simd::power_of_fraction(y); },
        fraction);
    return step(
        [](Float y, Float k) __attribute__((always_inline)) { return simd::scale_by_power(y, k); },
        power, exponent);
  }
}

template <class V>
struct SiluAndSlope {
  V value, slope;
};

/// The activation of x and its derivative, on the way to results of type T.
template <class T, class V>
[[gnu::always_inline]] inline SiluAndSlope<V> silu(const V& x) {
  using simd::Float;
  if constexpr (std::is_same_v<V, Several> && !kTakesSeveral<T>) {
    V values, slopes;
    for (int i = 0; i < Several::kCount; ++i) {
      const auto [value, slope] = silu<T>(x.v[i]);
      values.v[i] = value, slopes.v[i] = slope;
    }
    return {values, slopes};
  }
  const V power = power_of_minus<T>(x);
  const V open = step(
      [](Float e) __attribute__((always_inline)) { return simd::reciprocal(1.F + e); }, power);
  return {step(
              [](Float y, Float o) __attribute__((always_inline)) { return y * o; }, x, open),
          step(
              [](Float y, Float e, Float o)
                  __attribute__((always_inline)) { return simd::fma(y * (e * o), o, o); },
              x, power, open)};
}

}  // namespace mpitron::kernels::host
