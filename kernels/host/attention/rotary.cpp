// Rotates queries and keys by their position on the host (Su et al. 2021), in halves as Megatron
// and Llama do, or interleaved. In place; fp32, rounded once; the backward pass is the same with
// sin negated.
#include "kernels/attention/rotary.h"

#include "kernels/host/attention/rotate.h"
#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;

template <class T>
void rotate_halves(T* x, const T* cos, const T* sin, Index r, float sign) {
  simd::for_lanes(r, [&](Index i, auto lanes) {
    const Float a = simd::load(x + i, lanes), b = simd::load(x + r + i, lanes);
    const Float c = simd::load(cos + i, lanes), s = simd::load(sin + i, lanes) * sign;
    simd::store(x + i, simd::fma(a, c, -(b * s)), lanes);
    simd::store(x + r + i, simd::fma(b, c, a * s), lanes);
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
