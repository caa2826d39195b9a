#pragma once
#include "kernels/cuda/attention/attention_problem.cuh"

namespace mpitron::kernels::cuda::attention {

/// Where the log-sum-exps of queries go, [b, n, s].
struct LogSums {
  float* data;
  Index stride_sample, stride_head;

  explicit LogSums(const device::TensorView& lse)
      : data(elements<float>(lse)), stride_sample(lse.stride(0)), stride_head(lse.stride(1)) {}
  /// Those of a head from a query on.
  __device__ float* of(Index sample, Index head, Index query) const {
    return data + sample * stride_sample + head * stride_head + query;
  }
};

/// The softmax of the rows of a warp's 16 R, whose scores come tile after tile (Milakov and
/// Gimelshein 2018). A row that has seen no key yet keeps its maximum at -inf and works with 0
/// instead.
template <int R>
class OnlineSoftmax {
 public:
  /// A number for each row that a lane has elements of: [r][half] of 16 r + 8 half + lane / 4.
  struct Rows {
    float of[R][2];

    __device__ float operator()(int r, int half) const { return of[r][half]; }
  };

  __device__ explicit OnlineSoftmax(float scale) : scale_(scale) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        max_[r][half] = -INFINITY;
        sum_[r][half] = 0;
      }
    }
  }

  /// Scores become exp(scale (score - maximum)). What was summed with those of earlier tiles is to
  /// be multiplied by the result.
  template <int N>
  __device__ __forceinline__ Rows add(Accumulators<R, N>& scores) {
    const float c = scale_ * kLog2e;
    Rows correction;
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float top = max_[r][half];
#pragma unroll
        for (int n = 0; n < N; ++n) {
          top = fmaxf(top, fmaxf(scores.tile[r][n][2 * half], scores.tile[r][n][2 * half + 1]));
        }
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
        const float finite = top == -INFINITY ? 0.f : top;
        correction.of[r][half] = exp2_approximate((max_[r][half] - finite) * c);
        float sum = sum_[r][half] * correction.of[r][half];
#pragma unroll
        for (int n = 0; n < N; ++n) {
#pragma unroll
          for (int e = 2 * half; e < 2 * half + 2; ++e) {
            scores.tile[r][n][e] = exp2_approximate(fmaf(scores.tile[r][n][e], c, -finite * c));
            sum += scores.tile[r][n][e];
          }
        }
        max_[r][half] = top;
        sum_[r][half] = sum;
      }
    }
    return correction;
  }

  /// What sums of values times add's results are to be multiplied by, times keep_scale; 0 for a row
  /// that sees nothing. Stores the log-sum-exps of the first `rows` rows of the warp.
  __device__ __forceinline__ Rows finish(float keep_scale, float* lse, Index rows) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    Rows factor;
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float sum = sum_[r][half];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        const bool hidden = sum == 0;
        factor.of[r][half] = hidden ? 0.f : keep_scale / sum;
        const int row = 16 * r + 8 * half + lane / 4;
        if (lane % 4 == 0 && row < rows) {
          lse[row] = hidden ? -INFINITY : max_[r][half] * scale_ + logf(sum);
        }
      }
    }
    return factor;
  }

 private:
  const float scale_;
  float max_[R][2];  // of raw scores
  float sum_[R][2];  // of this lane's columns
};

/// Multiplies each row by its factor.
template <int R, int N>
__device__ __forceinline__ void scale_rows(Accumulators<R, N>& x,
                                           const typename OnlineSoftmax<R>::Rows& factor) {
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        x.tile[r][n][e] *= factor(r, e / 2);
      }
    }
  }
}

}  // namespace mpitron::kernels::cuda::attention
