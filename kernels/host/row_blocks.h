#pragma once
#include "kernels/host/views.h"

// Sums over the rows of [t, h] whose bits do not depend on the number of threads: the rows are cut
// into blocks by t alone, each block has partial sums of its own, and these are added in order.

namespace mpitron::kernels::host {

/// Rows of a block. Few blocks keep what is added at the end small beside what is read.
inline Index block_rows(Index t) {
  constexpr Index kLeastRows = 16, kMostBlocks = 64;
  return std::max(kLeastRows, (t + kMostBlocks - 1) / kMostBlocks);
}
inline Index block_count(Index t) {
  return (t + block_rows(t) - 1) / block_rows(t);
}

/// target[i] = (or +=) the sum over the blocks' partial rows, in order; `stride` floats apart.
inline void reduce_blocks(const float* partial, Index blocks, Index stride,
                          const device::InOut& target, bool accumulate) {
  visit_dtype(target.dtype, [&]<class T>() {
    T* out = target.as<T>();
    for_tiles(1, target.numel(), blocks, false, [&](auto, Index, Index begin, Index end) {
      simd::for_lanes(end - begin, [&](Index j, auto lanes) {
        const Index i = begin + j;
        simd::Float sum{};
        for (Index block = 0; block < blocks; ++block) {
          sum += simd::load(partial + block * stride + i, lanes);
        }
        simd::store(out + i, accumulate ? simd::load(out + i, lanes) + sum : sum, lanes);
      });
    });
  });
}

}  // namespace mpitron::kernels::host
