#pragma once
#include "kernels/cuda/attention/attention_problem.cuh"

// What all backward kernels of attention form for a tile of scores: P from raw scores, and dS from
// P and dP.
namespace mpitron::kernels::cuda::attention {

/// What backward needs to know of each query besides its row of q.
struct QueryStatistics {
  const float* lse;
  Index lse_stride_sample, lse_stride_head;
  const float* delta;  // [b, n, s]: rowsum(o d_o)
  Index s, heads;

  struct Query {
    float lse, delta;  // lse in units of log 2
  };
  /// A query that sees nothing, or is none, has lse = +inf, which makes its P 0.
  __device__ Query of(Index sample, Index head, Index query) const {
    if (query >= s) {
      return {INFINITY, 0};
    }
    const float x = lse[sample * lse_stride_sample + head * lse_stride_head + query];
    return {x == -INFINITY ? INFINITY : x * kLog2e, delta[(sample * heads + head) * s + query]};
  }
};

/// With the deltas that run_deltas leaves at the beginning of the workspace.
inline QueryStatistics query_statistics(const AttentionBackward& kernel) {
  return {elements<float>(kernel.lse), kernel.lse.stride(0),
          kernel.lse.stride(1),        static_cast<const float*>(kernel.workspace.data),
          kernel.lse.size(2),          kernel.lse.size(1)};
}

/// Raw scores become P = exp(scale score - lse); `query(half, i, j)` is that of element [i, j] of
/// the warp's tile, where i is in its lower or upper half.
template <int N, class Query>
__device__ __forceinline__ void probabilities(Accumulators<1, N>& scores, float scale,
                                              Query&& query) {
  const float c = scale * kLog2e;
  for_elements<1, N>([&](int, int n, int e, int i, int j) {
    float& p = scores.tile[0][n][e];
    p = exp2_approximate(fmaf(p, c, -query(e / 2, i, j).lse));
  });
}

/// The derivative of a bounded score by what is bounded, from its probability and the query's lse;
/// one without a probability has no gradient.
__device__ __forceinline__ float slope_of_bound(float p, float lse, float softcap) {
  const float share = (log2f(p) + lse) / (kLog2e * softcap);
  return p > 0 ? 1 - share * share : 0.f;
}

/// What dP is multiplied by where dropout keeps it, and the bound of scores; 0: none.
struct GradientFactors {
  float keep_scale;
  float softcap = 0;
};

/// dP becomes dS without the scale, P what it is after dropout, if any, without keep_scale.
template <int N, class Query>
__device__ __forceinline__ void score_gradients(Accumulators<1, N>& p, Accumulators<1, N>& ds,
                                                bool drops, const ElementBits<1>& kept,
                                                const GradientFactors& factors, Query&& query) {
  if (drops) {
    kept.template select<N>(ds, 0, 0.f);
  }
  for_elements<1, N>([&](int, int n, int e, int i, int j) {
    float& gradient = ds.tile[0][n][e];
    gradient = p.tile[0][n][e] * fmaf(gradient, factors.keep_scale, -query(e / 2, i, j).delta);
    if (factors.softcap > 0) {
      gradient *= slope_of_bound(p.tile[0][n][e], query(e / 2, i, j).lse, factors.softcap);
    }
  });
  if (drops) {
    kept.template select<N>(p, 0, 0.f);
  }
}

}  // namespace mpitron::kernels::cuda::attention
