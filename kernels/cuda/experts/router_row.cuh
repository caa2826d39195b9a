#pragma once
#include <cmath>
#include <limits>

#include "intrinsics.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/experts/router.h"

// Works by a warp on the logits of one token, in T (float or double): the definitions of
// router_row.h with every 32nd expert to a lane. Rows are in shared memory; a function that writes
// one ends with __syncwarp.

namespace mpitron::kernels::cuda::router {

/// Contiguous [t, E] of a type known at run time: fp32, bf16, fp16, fp64.
struct Matrix {
  void* data;
  DType dtype;
  Index t, n;

  Matrix(const device::TensorView& view) : Matrix(view.data, view) {}  // NOLINT: the same matrix
  Matrix(const device::ConstTensorView& view)                          // NOLINT
      : Matrix(const_cast<void*>(view.data), view) {}

  template <class T>
  __device__ T load(Index i) const {
    switch (dtype) {
      case DType::f64:
        return static_cast<T>(static_cast<const double*>(data)[i]);
      case DType::bf16:
        return static_cast<float>(static_cast<const __nv_bfloat16*>(data)[i]);
      case DType::f16:
        return static_cast<float>(static_cast<const __half*>(data)[i]);
      default:
        return static_cast<const float*>(data)[i];
    }
  }
  template <class T>
  __device__ void store(Index i, T value) const {
    switch (dtype) {
      case DType::f64:
        static_cast<double*>(data)[i] = value;
        return;
      case DType::bf16:
        static_cast<__nv_bfloat16*>(data)[i] = static_cast<float>(value);
        return;
      case DType::f16:
        static_cast<__half*>(data)[i] = static_cast<float>(value);
        return;
      default:
        static_cast<float*>(data)[i] = static_cast<float>(value);
    }
  }

 private:
  template <class View>
  Matrix(void* data_, const View& view)
      : data(data_), dtype(view.dtype), t(view.size(0)), n(view.size(1)) {
    MPITRON_CHECK(view.shape.rank() == 2 && view.contiguous(), to_string(view.shape));
    MPITRON_CHECK(n <= kMostExperts, n);
  }
};

/// Calls f<T>() with the type that is computed in.
template <class F>
void visit_arithmetic(DType logits, F&& f) {
  if (logits == DType::f64) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}

// ---------------------------------------------------------------------------------------------
// rows and warps

/// Chooses how many warps a block has, each with `rows` numbers of T for each expert in shared
/// memory: as many, up to four, as fit what a kernel has without asking.
template <class T>
LaunchShape warp_shape(Index t, Index n, Index rows) {
  const Index bytes = rows * n * static_cast<Index>(sizeof(T));
  const Index warps = std::clamp((Index{48} << 10) / std::max<Index>(bytes, 1), Index{1}, Index{4});
  return {blocks_for(t, warps), dim3(kWarp, static_cast<unsigned>(warps)),
          static_cast<std::size_t>(warps * bytes)};
}

/// Returns the warp's row number `which` of the rows that warp_shape gave room for.
template <class T>
__device__ T* shared_row(Index n, Index rows, Index which) {
  return dynamic_shared<T>() + (threadIdx.y * rows + which) * n;
}

/// Calls body(row) for the warp's rows of t.
template <class F>
__device__ void for_tokens(Index t, F&& body) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.y;
  for (Index row = static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y; row < t;
       row += step) {
    body(row);
  }
}

/// Calls body(i) for this lane's part of n.
template <class F>
__device__ void for_lane(Index n, F&& body) {
  for (Index i = threadIdx.x; i < n; i += kWarp) {
    body(i);
  }
}
/// Writes row[i] = value(i).
template <class T, class F>
__device__ void fill(T* row, Index n, F&& value) {
  for_lane(n, [&](Index i) { row[i] = value(i); });
  __syncwarp();
}
/// Sums term(i): each lane its own in order, then a butterfly over lanes; the result is the same in
/// every lane.
template <class T, class F>
__device__ T sum_of(Index n, F&& term) {
  T sum = 0;
  for_lane(n, [&](Index i) { sum += term(i); });
  return warp_reduce(sum, Sum{});
}
template <class T, class F>
__device__ T largest_of(Index n, F&& value) {
  T top = -std::numeric_limits<T>::infinity();
  for_lane(n, [&](Index i) { top = value(i) > top ? value(i) : top; });
  return warp_reduce(top, [](T a, T b) { return a > b ? a : b; });
}

// ---------------------------------------------------------------------------------------------
// scores

/// Keeps a sum of own scores from zero.
constexpr double kSumGuard = 1e-20;

template <class T>
__device__ T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}
/// Computes a score that does not depend on the other logits: sigmoid or sqrt_softplus.
template <class T>
__device__ T own_score(RouterScore score, T x) {
  return score == RouterScore::sigmoid
             ? sigmoid(x)
             : std::sqrt((x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::abs(x))));
}
/// Computes its slope, given its value.
template <class T>
__device__ T own_score_slope(RouterScore score, T x, T value) {
  if (score == RouterScore::sigmoid) {
    return value * (1 - value);
  }
  return x < T(-30) ? value / 2 : sigmoid(x) / (2 * value);  // far left value is e^(x/2)
}

/// Writes result[j] = softmax of value(j).
template <class T, class F>
__device__ void softmax(Index n, F&& value, T* result) {
  const T top = largest_of<T>(n, value);
  const T sum = sum_of<T>(n, [&](Index i) { return result[i] = std::exp(value(i) - top); });
  for_lane(n, [&](Index i) { result[i] /= sum; });
  __syncwarp();
}

/// Scores of each expert alone, which are divided by (their sum + guard) where `normal`.
struct OwnScores {
  RouterScore score;
  bool normal;
};

/// Writes result[j] = the own score of value(j).
template <class T, class F>
__device__ void own_scores(Index n, OwnScores rule, F&& value, T* result) {
  const T sum = static_cast<T>(kSumGuard) +
                sum_of<T>(n, [&](Index i) { return result[i] = own_score(rule.score, value(i)); });
  for_lane(n, [&](Index i) { result[i] = rule.normal ? result[i] / sum : result[i]; });
  __syncwarp();
}

/// Calls chosen(j, i) in every lane: the j-th largest of values is number i; ties by rising index;
/// a NaN counts as -infinity.
template <class T, class Chosen>
__device__ void largest(const T* values, Index n, Index k, Chosen&& chosen) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const auto value = [&](int i) { return values[i] == values[i] ? values[i] : -kInfinity; };
  T above = kInfinity;
  int last = -1;
  for (Index j = 0; j < k; ++j) {
    int best = -1;
    T top = -kInfinity;
    for_lane(n, [&](Index at) {
      const int i = static_cast<int>(at);
      const T x = value(i);
      const bool left = x < above || (x == above && i > last);
      if (left && (best < 0 || x > top)) {
        best = i;
        top = x;
      }
    });
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const int other = __shfl_xor_sync(kAllLanes, best, step);
      const T other_top = __shfl_xor_sync(kAllLanes, top, step);
      const bool better = best < 0 || other_top > top || (other_top == top && other < best);
      if (other >= 0 && better) {
        best = other;
        top = other_top;
      }
    }
    chosen(j, best);
    above = top;
    last = best;
  }
  __syncwarp();
}

// ---------------------------------------------------------------------------------------------
// gradients: what weight(j), the gradients of the scores of experts chosen(j), make of the logits

/// Writes the gradients of the softmax p over the chosen ones.
template <class T, class Chosen, class Weight>
__device__ void softmax_gradients(Index k, const T* p, Chosen&& chosen, Weight&& weight,
                                  T* dlogits) {
  const T mean = sum_of<T>(k, [&](Index j) { return weight(j) * p[j]; });
  for_lane(k, [&](Index j) { dlogits[chosen(j)] = p[j] * (weight(j) - mean); });
  __syncwarp();
}

/// Writes the gradients of own scores.
template <class T, class Chosen, class Weight>
__device__ void own_score_gradients(const T* x, Index k, OwnScores rule, Chosen&& chosen,
                                    Weight&& weight, T* dlogits) {
  const auto score = [&](Index j) { return own_score(rule.score, x[chosen(j)]); };
  const T sum = static_cast<T>(kSumGuard) + sum_of<T>(k, score);
  const T product = sum_of<T>(k, [&](Index j) { return weight(j) * score(j); });
  for_lane(k, [&](Index j) {
    const T value = score(j);
    const T dvalue = rule.normal ? (weight(j) - product / sum) / sum : weight(j);
    dlogits[chosen(j)] = dvalue * own_score_slope(rule.score, x[chosen(j)], value);
  });
  __syncwarp();
}

}  // namespace mpitron::kernels::cuda::router
