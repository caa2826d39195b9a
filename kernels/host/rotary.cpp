#include "kernels/rotary.h"

#include "kernels/host/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;
using simd::Int;

template <class T>
void rotate_halves(T* x, const T* cos, const T* sin, Index r, float sign) {
  simd::for_lanes(r, [&](Index i, auto lanes) {
    const Float a = simd::load(x + i, lanes), b = simd::load(x + r + i, lanes);
    const Float c = simd::load(cos + i, lanes), s = simd::load(sin + i, lanes) * sign;
    simd::store(x + i, simd::fma(a, c, -(b * s)), lanes);
    simd::store(x + r + i, simd::fma(b, c, a * s), lanes);
  });
}

/// Sixteen or fewer components (a, b) (a, b) ...; c, s hold one value a component, s with the sign
/// of its term.
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

template <class T>
void rotate_interleaved(T* x, const T* cos, const T* sin, Index r, float sign) {
  simd::for_lanes(r, [&](Index i, auto lanes) {
    const Float c = simd::load(cos + i, lanes), s = simd::load(sin + i, lanes) * sign;
    rotate_eight(x + 2 * i, c, s, false, lanes.count);
    rotate_eight(x + 2 * i + simd::kLanes, c, s, true, lanes.count - 8);
  });
}

}  // namespace

void run(device::HostStream&, const RotaryEmbedding& k) {
  const Index r = k.cos.size(-1), rows = row_count(k.x);
  MPITRON_CHECK(2 * r <= k.x.size(-1), r, k.x.size(-1));
  MPITRON_CHECK(k.cos.size(0) == k.x.size(0), k.cos.size(0), k.x.size(0));
  visit_dtype(k.x.dtype, [&]<class T>() {
    const Rows<T> xs(k.x);
    const Rows<const T> cos(k.cos), sin(k.sin);
    const Index rows_a_position = rows / std::max<Index>(1, k.x.size(0));
    const float sign = k.inverse ? -1.f : 1.f;
    for_ranges(rows, rows * r * 4, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const Index position = row / rows_a_position;
        if (k.interleaved) {
          rotate_interleaved(xs[row], cos[position], sin[position], r, sign);
        } else {
          rotate_halves(xs[row], cos[position], sin[position], r, sign);
        }
      }
    });
  });
}

}  // namespace mpitron::kernels
