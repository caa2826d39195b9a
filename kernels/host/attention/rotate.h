#pragma once
// Rotates interleaved pairs of components sixteen at a time: neighbours are swapped within the
// vector, and signs ride on the sines.
#include "kernels/host/common/simd.h"

namespace mpitron::kernels::host {

using simd::Float;
using simd::Int;

/// Rotates sixteen or fewer components (a, b) (a, b) ...; c, s hold one value a component, s with
/// the sign of its term.
template <class T, class Lanes>
void rotate_pairs(T* x, Float c, Float s, Lanes lanes) {
  const Float v = simd::load(x, lanes);
  const Float swapped =
      __builtin_shuffle(v, Int{1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14});
  simd::store(x, simd::fma(v, c, swapped * s), lanes);
}

/// Rotates eight pairs or fewer from the given half of the sixteen cosines and sines.
template <class T>
void rotate_eight(T* x, Float c, Float s, bool upper, Index pairs) {
  const Int half = Int{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7} + (upper ? 8 : 0);
  const Float sign = {-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1};
  const Float cos = __builtin_shuffle(c, half), sin = __builtin_shuffle(s, half) * sign;
  if (pairs >= 8) {
    rotate_pairs(x, cos, sin, simd::Full{});
  } else if (pairs > 0) {
    rotate_pairs(x, cos, sin, simd::Part{2 * pairs});
  }
}

/// (x[2i], x[2i + 1]) -> (a cos - b sin, b cos + a sin) for i < r, sin times `sign`.
template <class T>
void rotate_interleaved(T* x, const T* cos, const T* sin, Index r, float sign) {
  simd::for_lanes(r, [&](Index i, auto lanes) {
    const Float c = simd::load(cos + i, lanes), s = simd::load(sin + i, lanes) * sign;
    rotate_eight(x + 2 * i, c, s, false, lanes.count);
    rotate_eight(x + 2 * i + simd::kLanes, c, s, true, lanes.count - 8);
  });
}

}  // namespace mpitron::kernels::host
