#pragma once
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"

// The second stage of sums over the rows of [t, h]: adds what the first stage's workers left.

namespace mpitron::kernels::cuda {

/// Sums of the first stage: `count` rows, `stride` floats apart.
struct PartialRows {
  const float* data;
  Index count, stride;
};

template <class T>
struct PartialSums {
  PartialRows rows;
  T* target;  // [n]
  Index n;
  bool accumulate;
};

inline constexpr int kPartialThreads = kWarp * kWarp;

/// 32 columns to a block: thread y adds every 32nd partial row in order, then the 32 sums are added
/// in order.
template <class T>
__global__ __launch_bounds__(kPartialThreads) void add_partial_rows(PartialSums<T> a) {
  __shared__ float sums[kWarp][kWarp];
  const Index column = static_cast<Index>(blockIdx.x) * kWarp + threadIdx.x;
  float sum = 0;
  for (Index row = threadIdx.y; column < a.n && row < a.rows.count; row += kWarp) {
    sum += a.rows.data[row * a.rows.stride + column];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < a.n) {
    float total = 0;
    for (int y = 0; y < kWarp; ++y) {
      total += sums[y][threadIdx.x];
    }
    a.target[column] =
        static_cast<T>(a.accumulate ? static_cast<float>(a.target[column]) + total : total);
  }
}

/// target = (or +=) the sum of the partial rows.
inline void add_partials(device::CudaStream& stream, const char* name, const PartialRows& rows,
                         const device::InOut& target, bool accumulate) {
  visit_element(target.dtype, [&]<class T>() {
    const Index n = target.numel();
    if (n > 0) {
      launch(stream, name, {static_cast<unsigned>((n + kWarp - 1) / kWarp), dim3(kWarp, kWarp)},
             add_partial_rows<T>, PartialSums<T>{rows, elements<T>(target), n, accumulate});
    }
  });
}

}  // namespace mpitron::kernels::cuda
