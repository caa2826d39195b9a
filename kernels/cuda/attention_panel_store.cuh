#pragma once
#include "kernels/cuda/attention_problem.cuh"
#include "kernels/cuda/warpgroup_product.cuh"

namespace mpitron::kernels::cuda::attention {

/// The first `count` elements, at most 8, of a chunk of 16 bytes in shared memory.
template <class T>
__device__ void store_chunk(T* to, const T* chunk, Index count, bool aligned) {
  if (aligned && count >= 8) {
    store_words(to, *reinterpret_cast<const uint4*>(chunk));
  } else {
    for (int i = 0; i < 8 && i < count; ++i) {
      to[i] = chunk[i];
    }
  }
}

/// Stores factor x of a warp to the first 16 of the output's rows: in chunks of 16 bytes by way of
/// the rows from `row` on of a tile, which nobody else needs any more.
template <class T, int kRows, int kColumns, int N, class Factor>
__device__ __forceinline__ void store_by_way_of(const PanelTile<T, kRows, kColumns>& tile, int row,
                                                const OutputRows<T>& output,
                                                const Accumulators<1, N>& x, Factor&& factor) {
  static_assert(8 * N <= kColumns);
  if (output.wide != nullptr) {
    output.store(x, 0, factor);
    return;
  }
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int n = 0; n < N; ++n) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float scale = factor(0, half);
      T* const pair = tile.chunk(row + 8 * half + lane / 4, n) + lane % 4 * 2;
      *reinterpret_cast<std::uint32_t*>(pair) =
          pack(x.tile[0][n][2 * half] * scale, x.tile[0][n][2 * half + 1] * scale, T());
    }
  }
  __syncwarp();
  for (int i = lane; i < 16 * N; i += 32) {
    const int from = i / N, chunk = i % N;
    if (from < output.rows) {
      store_chunk(output.own + from * output.stride + 8 * chunk, tile.chunk(row + from, chunk),
                  output.columns - 8 * chunk, output.aligned);
    }
  }
}

}  // namespace mpitron::kernels::cuda::attention
