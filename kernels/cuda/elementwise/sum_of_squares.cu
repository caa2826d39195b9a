// Numerical contract: that of SumOfSquares in optimizer.h. Eight lanes square a block of 64
// elements; the blocks' sums are added as integers, so that who adds what does not matter.
#include <cmath>

#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/optimizer.h"
#include "utils/numbers/exact_sum.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr int kBlock = SumOfSquares::kBlock;
constexpr int kLanes = kBlock / kPack;   // of a block of elements
constexpr int kAtOnce = kWarp / kLanes;  // blocks of elements that a warp squares at once
constexpr int kAhead = 4;                // packs that a thread loads at once
// A warp takes 32 blocks of elements, kAtOnce at a time; then each lane adds the sum of one.
constexpr Index kStep = Index{kWarp} * kBlock;
constexpr unsigned kMostThreadBlocks = 1024;  // enough for every GPU; each ends with atomics
using Bin = unsigned long long;               // int64 in two's complement, as atomicAdd wants it

__device__ void add_to_bins(Bin* bins, int first, const std::int64_t (&parts)[3]) {
  for (int i = 0; i < 3; ++i) {
    if (parts[i] != 0) {
      atomicAdd(bins + first + i, static_cast<Bin>(parts[i]));
    }
  }
}

/// Sums of one thread before they go to the bins: three neighbouring digits, which move to where a
/// value lies outside of them.
struct Window {
  Bin* bins;
  int first = 0;
  std::int64_t sums[3] = {};

  /// Adds a finite value. Where it lies outside the window, the window is flushed and moved.
  __device__ void add(float value) {
    const exact_sum::Summand summand = exact_sum::summand_of(value);
    if (value == 0) {
      return;
    }
    if (summand.first < first || summand.first > first + 1) {
      flush();
      first = summand.first > 0 ? summand.first - 1 : 0;
    }
    const bool lower = summand.first == first;
    sums[0] += lower ? summand.part[0] : 0;
    sums[1] += lower ? summand.part[1] : summand.part[0];
    sums[2] += lower ? 0 : summand.part[1];
  }
  __device__ void flush() {
    add_to_bins(bins, first, sums);
    sums[0] = sums[1] = sums[2] = 0;
  }
};

/// Adds the 64 elements from `begin` in fp64, where fp32 overflows.
template <class T>
__device__ void add_wide(const T* x, Index begin, Index n, Bin* bins) {
  double sum = 0;
  for (Index i = begin; i < begin + kBlock && i < n; ++i) {
    const double value = static_cast<float>(x[i]);
    sum += value * value;
  }
  const exact_sum::Summand summand = exact_sum::summand_of(sum);
  add_to_bins(bins, summand.first, summand.part);
}

/// Squares elements a warp at a time. Sums of 64 elements go to a thread's window, windows to
/// shared bins, and those to the result: integers all the way, so neither grid nor timing changes
/// the sum.
template <class T>
__global__ void sum_squares(const T* x, Index n, bool packed, Bin* result) {
  __shared__ Bin bins[exact_sum::kBins];
  if (threadIdx.x < exact_sum::kBins) {
    bins[threadIdx.x] = 0;
  }
  __syncthreads();
  Window window{bins};
  const Worker thread = thread_of_grid();
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  for (Index begin = thread.index / kWarp * kStep; begin < n;
       begin += thread.count / kWarp * kStep) {
    float own = 0;
    for (int first = 0; first < kLanes; first += kAhead) {
      Raw<T, kPack> packs[kAhead];
#pragma unroll
      for (int ahead = 0; ahead < kAhead; ++ahead) {
        const Index i = begin + (first + ahead) * (kWarp * kPack) + lane * kPack;
        packs[ahead] = load_some(x + i, n - i, packed);
      }
#pragma unroll
      for (int ahead = 0; ahead < kAhead; ++ahead) {
        float squares = 0;
        for (const float value : floats(packs[ahead]).v) {
          squares += value * value;
        }
        const float sum = warp_reduce(squares, Sum{}, kLanes);
        own = lane % kLanes == first + ahead ? sum : own;
      }
    }
    if (std::isfinite(own)) {
      window.add(own);
    } else {
      add_wide(x, begin + (lane % kLanes * kAtOnce + lane / kLanes) * kBlock, n, bins);
    }
  }
  window.flush();
  __syncthreads();
  if (threadIdx.x < exact_sum::kBins && bins[threadIdx.x] != 0) {
    atomicAdd(result + threadIdx.x, bins[threadIdx.x]);
  }
}

}  // namespace

void run(device::CudaStream& stream, const SumOfSquares& k) {
  const Index n = k.x.numel();
  const unsigned blocks = std::min(blocks_for(n, kThreads / kWarp * kStep), kMostThreadBlocks);
  visit_element(k.x.dtype, [&]<class T>() {
    const T* x = elements<T>(k.x);
    launch(stream, k.name, {blocks, kThreads}, sum_squares<T>, x, n, all_packed(x),
           static_cast<Bin*>(k.bins.data));
  });
}

}  // namespace mpitron::kernels
