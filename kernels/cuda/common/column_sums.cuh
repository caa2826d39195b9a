#pragma once
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"

// The second stage of sums over the rows of [t, h]: adds what the first stage's workers left.

namespace mpitron::kernels::cuda {

/// Sums of the first stage: `count` rows, `stride` floats apart; where there are two sums, the
/// second is `apart` floats behind the first.
struct PartialRows {
  const float* data;
  Index count, stride;
  Index apart = 0;
};

template <class T>
struct PartialSums {
  PartialRows rows;
  T* targets[2];  // [n]
  Index n;
  bool accumulate;
};

inline constexpr int kPartialColumns = 8;  // of a block: 32 bytes, what memory gives at once
inline constexpr int kPartialRows = 128;

/// A few columns to a block, so that there are many blocks: thread y adds every 128th partial row
/// in order, then the 128 sums are added by halves. blockIdx.y is the target.
template <class T>
__global__ __launch_bounds__(kPartialColumns* kPartialRows) void add_partial_rows(
    PartialSums<T> a) {
  __shared__ float sums[kPartialRows][kPartialColumns];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const Index column = static_cast<Index>(blockIdx.x) * kPartialColumns + x;
  const float* const data = a.rows.data + blockIdx.y * a.rows.apart + column;
  float sum = 0;
  for (Index row = y; column < a.n && row < a.rows.count; row += kPartialRows) {
    sum += data[row * a.rows.stride];
  }
  sums[y][x] = sum;
  for (unsigned half = kPartialRows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y < half) {
      sums[y][x] += sums[y + half][x];
    }
  }
  if (y == 0 && column < a.n) {
    T* const target = a.targets[blockIdx.y] + column;
    *target = static_cast<T>(a.accumulate ? static_cast<float>(*target) + sums[0][x] : sums[0][x]);
  }
}

/// target = (or +=) the sum of the partial rows; likewise a second one of the same type, if any.
inline void add_partials(device::CudaStream& stream, const char* name, const PartialRows& rows,
                         bool accumulate, const device::InOut& target,
                         const device::InOut& second = {}) {
  visit_element(target.dtype, [&]<class T>() {
    const Index n = target.numel();
    if (n > 0) {
      const dim3 grid(static_cast<unsigned>((n + kPartialColumns - 1) / kPartialColumns),
                      second ? 2 : 1);
      launch(
          stream, name, {grid, dim3(kPartialColumns, kPartialRows)}, add_partial_rows<T>,
          PartialSums<T>{
              rows, {elements<T>(target), second ? elements<T>(second) : nullptr}, n, accumulate});
    }
  });
}

}  // namespace mpitron::kernels::cuda
