// Numerical contract: that of attention_merge.h. The outputs are merged first, then the
// logarithms, which all threads of a row read.
#include "kernels/attention/attention_merge.h"
#include "kernels/cuda/common/vector.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

struct Merge {
  float *o, *lse;
  const float *part_o, *part_lse;
  Index s, heads, d;  // heads: b n

  /// Where [b, n, s] holds row r of [s, b, n].
  __device__ Index place(Index row) const { return row % heads * s + row / heads; }
};

/// log of the sum of both parts' exponentials; infinite where neither has seen a key.
__device__ float merged(float mine, float theirs) {
  const float largest = fmaxf(mine, theirs);
  return std::isinf(largest) ? largest
                             : largest + logf(expf(mine - largest) + expf(theirs - largest));
}

/// Merges element by element: both lse of a row are read, so no thread needs another's result. The
/// new lse is written by a launch of its own, behind this one.
__global__ void merge_outputs(Merge a, bool packed) {
  for_rows(a.s * a.heads, a.d, packed, [&](Index row, Index i, auto width) {
    const float mine = a.lse[a.place(row)], theirs = a.part_lse[a.place(row)];
    const float both = merged(mine, theirs);
    if (!std::isinf(both)) {
      const float keep = expf(mine - both), add = expf(theirs - both);
      float* const o = a.o + row * a.d + i;
      store(o, each([&](float v, float part) { return keep * v + add * part; }, load(o, width),
                    load(a.part_o + row * a.d + i, width)));
    }
  });
}

__global__ void merge_logarithms(Merge a) {
  for_packs(a.s * a.heads, false, thread_of_grid(),
            [&](Index i, auto) { a.lse[i] = merged(a.lse[i], a.part_lse[i]); });
}

}  // namespace

void run(device::CudaStream& stream, const AttentionMerge& k) {
  MPITRON_CHECK(k.o.contiguous() && k.part_o.contiguous() && k.part_o.shape == k.o.shape,
                to_string(k.o.shape), to_string(k.part_o.shape));
  const Merge a{elements<float>(k.o),
                elements<float>(k.lse),
                elements<float>(k.part_o),
                elements<float>(k.part_lse),
                k.o.size(0),
                k.o.size(1) * k.o.size(2),
                k.o.size(3)};
  const Index rows = a.s * a.heads;
  launch(stream, AttentionMerge::name, row_shape(rows, a.d), merge_outputs, a,
         a.d % kPack == 0 && all_packed(a.o, a.part_o));
  launch(stream, AttentionMerge::name, flat_shape(rows), merge_logarithms, a);
}

}  // namespace mpitron::kernels
