#pragma once
// Chooses the vector type of the attention kernels: 16 floats, with the operations of both files
// below.
#include "kernels/host/common/simd.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include "kernels/host/attention/attention_simd_avx512.h"
namespace mpitron::kernels::host::attention {
using namespace avx512;
}
#else
#include "kernels/host/attention/attention_simd_portable.h"
namespace mpitron::kernels::host::attention {
using namespace portable;
}
#endif

namespace mpitron::kernels::host::attention {

/// to[i] = reduce_add(x[i]) for the first `count` of sixteen vectors, to the bit: together they
/// take a third of the instructions.
inline void reduce_rows(const Vec (&x)[16], float* to, Index count) {
  simd::Float rows[16];
  for (int i = 0; i < 16; ++i) {
    alignas(64) float lanes[16];
    store(lanes, x[i]);
    rows[i] = simd::load(lanes);
  }
  simd::store(to, simd::lane_sums(rows), simd::Part{std::min<Index>(16, count)});
}

}  // namespace mpitron::kernels::host::attention
