#pragma once
#include "kernels/cuda/common/vector.cuh"

// Sums and the like over the threads of a block, the same bits in every thread and every run: a
// butterfly over each warp, then the warps' results in order. Every thread of the block takes part.

namespace mpitron::kernels::cuda {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kMostWarps = 32;  // of a block

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Over `width` neighbouring lanes (a power of two); `combine` commutes.
template <class T, class Combine>
__device__ T warp_reduce(T value, Combine combine, int width = kWarp) {
  for (int step = width / 2; step > 0; step /= 2) {
    value = combine(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

/// Over the threads of the same threadIdx.y; blockDim.x is a multiple of 32. `partial` is shared
/// memory of kMostWarps T, which may serve again at once.
template <class T, class Combine>
__device__ T block_reduce(T value, T* partial, Combine combine) {
  value = warp_reduce(value, combine);
  const unsigned warps = blockDim.x / kWarp;
  if (warps == 1) {
    return value;
  }
  partial += threadIdx.y * warps;
  __syncthreads();  // nobody reads what the last call left
  if (threadIdx.x % kWarp == 0) {
    partial[threadIdx.x / kWarp] = value;
  }
  __syncthreads();
  T result = partial[0];
  for (unsigned warp = 1; warp < warps; ++warp) {
    result = combine(result, partial[warp]);
  }
  return result;
}

template <class T>
__device__ T block_sum(T value, T* partial) {
  return block_reduce(value, partial, Sum{});
}

/// The sum of the values of earlier threads, and of all.
template <class T>
struct Scanned {
  T before, total;
};

/// Over the block's threads in order (one row of them), integers. `partial` as above.
template <class T>
__device__ Scanned<T> block_scan(T value, T* partial) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp,
            warp = static_cast<int>(threadIdx.x) / kWarp;
  T up_to = value;
  for (int step = 1; step < kWarp; step *= 2) {
    const T earlier = __shfl_sync(kAllLanes, up_to, lane - step);
    up_to += lane >= step ? earlier : 0;
  }
  __syncthreads();  // nobody reads what the last call left
  if (lane == kWarp - 1) {
    partial[warp] = up_to;
  }
  __syncthreads();
  Scanned<T> sum{up_to - value, 0};
  for (int other = 0; other < static_cast<int>(blockDim.x) / kWarp; ++other) {
    sum.before += other < warp ? partial[other] : 0;
    sum.total += partial[other];
  }
  return sum;
}

/// Threads for rows of n elements over which something is reduced: a row to whole warps.
inline LaunchShape reduced_row_shape(Index rows, Index n) {
  const unsigned x = std::max(row_shape(rows, n).block.x, static_cast<unsigned>(kWarp));
  return {blocks_for(rows, kThreads / x), dim3(x, kThreads / x)};
}

}  // namespace mpitron::kernels::cuda
