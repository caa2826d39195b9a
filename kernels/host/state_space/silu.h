#pragma once
#include <type_traits>

#include "kernels/host/common/views.h"

// The activation of convolutions and gates, x sigmoid(x), with its slope. Numerical contract: fp32
// arithmetic; the sigmoid of a kernel of fp32 numbers to 3e-7 relative, in kernels of bf16 and fp16
// to 2e-7 + 1e-7 |x|. There the results are rounded to 5e-4 at best, and a power of two takes two
// thirds of the operations that one of e does.

namespace mpitron::kernels::host {

/// The sigmoid of x, on the way to results of type T.
template <class T>
[[gnu::always_inline]] inline simd::Sigmoid sigmoid_for(simd::Float x) {
  if constexpr (std::is_same_v<T, float>) {
    return simd::sigmoid(x);
  } else {
    constexpr float kMinusLog2e = -1.44269504F, kMost = 115.F;
    return simd::sigmoid_of_power(simd::exp2(simd::min(simd::splat(kMost), x * kMinusLog2e)));
  }
}

struct Silu {
  simd::Float value, slope;
};

/// The activation of x and its derivative, on the way to results of type T.
template <class T>
[[gnu::always_inline]] inline Silu silu(simd::Float x) {
  const simd::Sigmoid open = sigmoid_for<T>(x);
  return {x * open.value, simd::fma(x * open.complement, open.value, open.value)};
}

}  // namespace mpitron::kernels::host
