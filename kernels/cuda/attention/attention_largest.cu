// Numerical contract: that of attention_largest.h. A warp takes the queries of one head in turn: a
// product is summed over its lanes in fp32. A maximum has no order, so warps join theirs in any.
#include "kernels/attention/attention_largest.h"
#include "kernels/cuda/common/reduce.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Addresses of one head's rows, and what a query of it sees.
template <class T>
struct Scores {
  const T *q, *k;
  Index q_row, q_sample, q_group, q_head, k_row, k_sample, k_group;  // strides
  Index queries, keys, samples, groups, heads, d;
  float scale;
  bool causal;
  SequenceMap positions;
  Index window, chunk;
  const std::uint8_t* mask;
  Index mask_sample, mask_query;  // strides; 0: the same for all

  explicit Scores(const AttentionLargest& a)
      : q(elements<T>(a.q)),
        k(elements<T>(a.k)),
        q_row(a.q.stride(0)),
        q_sample(a.q.stride(1)),
        q_group(a.q.stride(2)),
        q_head(a.q.stride(3)),
        k_row(a.k.stride(0)),
        k_sample(a.k.stride(1)),
        k_group(a.k.stride(2)),
        queries(a.q.size(0)),
        keys(a.k.size(0)),
        samples(a.q.size(1)),
        groups(a.q.size(2)),
        heads(a.q.size(3)),
        d(a.q.size(4)),
        scale(a.scale),
        causal(a.causal),
        positions(a.queries),
        window(a.window),
        chunk(a.chunk),
        mask(a.mask ? elements<std::uint8_t>(a.mask) : nullptr),
        mask_sample(a.mask && a.mask.size(0) > 1 ? a.mask.stride(0) : 0),
        mask_query(a.mask && a.mask.size(1) > 1 ? a.mask.stride(1) : 0) {}

  /// The largest score of a query, by the lanes of a warp.
  __device__ float of_query(Index sample, Index group, Index head, Index query, int lane) const {
    const T* const from = q + query * q_row + sample * q_sample + group * q_group + head * q_head;
    const T* const to = k + sample * k_sample + group * k_group;
    const Index at = positions(query), last = causal ? min(at + 1, keys) : keys;
    const std::uint8_t* const hidden =
        mask == nullptr ? nullptr : mask + sample * mask_sample + query * mask_query;
    float largest = -INFINITY;
    for (Index key = AttentionLargest::first_key(at, window, chunk); key < last; ++key) {
      if (hidden != nullptr && hidden[key] != 0) {
        continue;
      }
      float product = 0;
      for (Index c = lane; c < d; c += kWarp) {
        product = fmaf(load(from + c, Width<1>())[0] * scale,
                       load(to + key * k_row + c, Width<1>())[0], product);
      }
      largest = fmaxf(largest, warp_reduce(product, Sum{}));
    }
    return largest;
  }
};

/// Raises *to to `value`. Floats of one sign have the order of their bits, negative ones reversed;
/// the sum makes a positive zero of a negative one.
__device__ void raise(float* to, float value) {
  if (value >= 0) {
    atomicMax(reinterpret_cast<int*>(to), __float_as_int(value + 0.F));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(to), __float_as_uint(value));
  }
}

/// Blocks (queries, heads): every warp of a head takes its share of all samples' queries.
template <class T>
__global__ void largest_scores(const __grid_constant__ Scores<T> a, float* largest) {
  __shared__ float partial[kMostWarps];
  const Index head = blockIdx.y, warps = static_cast<Index>(gridDim.x) * (blockDim.x / kWarp);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  float mine = -INFINITY;
  for (Index i = static_cast<Index>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
       i < a.queries * a.samples; i += warps) {
    mine =
        fmaxf(mine, a.of_query(i / a.queries, head / a.heads, head % a.heads, i % a.queries, lane));
  }
  mine = block_reduce(mine, partial, Largest{});
  if (threadIdx.x == 0) {
    raise(largest + head, mine);
  }
}

}  // namespace

void run(device::CudaStream& stream, const AttentionLargest& k) {
  visit_element(k.q.dtype, [&]<class T>() {
    const Scores<T> scores(k);
    const LaunchShape shape{dim3(blocks_for(scores.queries * scores.samples, kThreads / kWarp),
                                 static_cast<unsigned>(scores.groups * scores.heads)),
                            kThreads};
    launch(stream, k.name, shape, largest_scores<T>, scores, elements<float>(k.largest));
  });
}

}  // namespace mpitron::kernels
