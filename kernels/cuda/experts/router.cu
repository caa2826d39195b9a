// Numerical contract: that of router.h; a warp to a token, sums over experts in its order.
#include "kernels/cuda/experts/router_row.cuh"
#include "kernels/experts/router.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

// ---------------------------------------------------------------------------------------------
// routing

/// Arguments of the choice of experts; rows are read and written in their own types.
struct Routing {
  router::Matrix logits;
  const float *chosen_by, *expert_bias;  // optional
  std::int64_t* experts;                 // [t, k]
  router::Matrix probabilities;          // [t, k]
  RoutingRule rule;
};

/// Gives the experts outside of the best groups the score -infinity. `sums`: room for a row.
template <class T>
__device__ void keep_best_groups(T* scores, Index n, Index k, const RoutingRule& rule, T* sums) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const Index size = n / rule.groups;
  for (Index group = 0; group < rule.groups; ++group) {
    const T* first = scores + group * size;
    T sum = 0;
    router::largest(first, size, k / rule.group_topk, [&](Index, int i) { sum += first[i]; });
    router::fill(sums + group, 1, [&](Index) { return sum; });
  }
  // A group is kept that is among the best; the others lose their scores.
  router::largest(sums, rule.groups, rule.groups, [&](Index place, int group) {
    if (place >= rule.group_topk) {
      router::for_lane(size, [&](Index i) { scores[group * size + i] = -kInfinity; });
    }
  });
}

/// Routes one token by one warp: scores, biases, groups, the k largest, their probabilities. Three
/// rows of shared memory serve all steps.
template <class T>
__global__ void route_tokens(const __grid_constant__ Routing a) {
  const Index n = a.logits.n, k = a.probabilities.n;
  T* const x = router::shared_row<T>(n, 3, 0);
  T* const scores = router::shared_row<T>(n, 3, 1);
  T* const spare = router::shared_row<T>(n, 3, 2);
  const auto logit = [&](Index i) { return x[i]; };
  router::for_tokens(a.logits.t, [&](Index row) {
    router::fill(x, n, [&](Index i) { return a.logits.load<T>(row * n + i); });
    const bool own = a.rule.score != RouterScore::softmax;
    if (a.chosen_by != nullptr) {
      router::fill(scores, n, [&](Index i) { return static_cast<T>(a.chosen_by[row * n + i]); });
    } else {
      if (own) {
        router::own_scores(n, {a.rule.score, false}, logit, scores);
      } else if (a.rule.pre_softmax) {
        router::softmax(n, logit, scores);
      } else {
        router::fill(scores, n, logit);
      }
      if (a.expert_bias != nullptr) {
        router::fill(scores, n,
                     [&](Index i) { return scores[i] + static_cast<T>(a.expert_bias[i]); });
      }
      if (a.rule.groups > 1) {
        keep_best_groups(scores, n, k, a.rule, spare);
      }
    }
    std::int64_t* experts = a.experts + row * k;
    router::largest(scores, n, k, [&](Index j, int i) {
      if (threadIdx.x == 0) {
        experts[j] = i;
      }
    });
    // The scores have served: they make room for the probabilities.
    if (own) {
      router::own_scores(
          k, {a.rule.score, k > 1}, [&](Index j) { return x[experts[j]]; }, scores);
    } else if (a.rule.pre_softmax) {
      router::softmax(n, logit, spare);
      router::fill(scores, k, [&](Index j) { return spare[experts[j]]; });
    } else {
      router::softmax(
          k, [&](Index j) { return x[experts[j]]; }, scores);
    }
    router::for_lane(k, [&](Index j) {
      a.probabilities.store<T>(row * k + j, scores[j] * static_cast<T>(a.rule.scaling));
    });
    __syncwarp();
  });
}

/// Arguments of the router's backward pass.
struct RoutingGradient {
  router::Matrix logits;
  const std::int64_t* experts;    // [t, k]
  router::Matrix dprobabilities;  // [t, k]
  router::Matrix dlogits;
  RoutingRule rule;
};

/// Writes a token's gradients: those of the chosen experts' probabilities back through score and
/// normalisation, zeros for all others.
template <class T>
__global__ void routing_gradients(const __grid_constant__ RoutingGradient a) {
  const Index n = a.logits.n, k = a.dprobabilities.n;
  T* const x = router::shared_row<T>(n, 3, 0);
  T* const p = router::shared_row<T>(n, 3, 1);
  T* const dx = router::shared_row<T>(n, 3, 2);
  router::for_tokens(a.logits.t, [&](Index row) {
    const std::int64_t* experts = a.experts + row * k;
    const auto chosen = [&](Index j) { return experts[j]; };
    const auto weight = [&](Index j) {
      return static_cast<T>(a.rule.scaling) * a.dprobabilities.load<T>(row * k + j);
    };
    router::fill(x, n, [&](Index i) { return a.logits.load<T>(row * n + i); });
    router::fill(dx, n, [&](Index) { return T{}; });
    if (a.rule.score != RouterScore::softmax) {
      router::own_score_gradients(x, k, {a.rule.score, k > 1}, chosen, weight, dx);
    } else if (a.rule.pre_softmax) {
      router::softmax(
          n, [&](Index i) { return x[i]; }, p);
      const T mean = router::sum_of<T>(k, [&](Index j) { return weight(j) * p[chosen(j)]; });
      router::fill(dx, n, [&](Index i) { return -p[i] * mean; });
      router::for_lane(k, [&](Index j) { dx[chosen(j)] += p[chosen(j)] * weight(j); });
      __syncwarp();
    } else {
      router::softmax(
          k, [&](Index j) { return x[chosen(j)]; }, p);
      router::softmax_gradients(k, p, chosen, weight, dx);
    }
    router::for_lane(n, [&](Index i) { a.dlogits.store<T>(row * n + i, dx[i]); });
    __syncwarp();
  });
}

// ---------------------------------------------------------------------------------------------
// Sinkhorn

struct Balance {
  router::Matrix logits;
  float* scores;   // [t, E]
  float *d0, *d1;  // [t], [E]
  double tolerance;
};

constexpr int kBalanceThreads = kMostWarps * kWarp;

/// Sums columns[i] = the sum over rows of d0[row] scores[row, i], for the columns from `first` on
/// that the block has threads for: its threads share rows out among them and are added in order.
__device__ float column_sum(const Balance& a, Index first, float* partial) {
  const Index n = a.logits.n, width = min(n - first, Index{kBalanceThreads});
  const Index parts = kBalanceThreads / width, part = threadIdx.x / width;
  const Index column = first + threadIdx.x % width;
  float sum = 0;
  for (Index row = part; part < parts && row < a.logits.t; row += parts) {
    sum += a.d0[row] * a.scores[row * n + column];
  }
  __syncthreads();
  partial[threadIdx.x] = sum;
  __syncthreads();
  float total = 0;
  for (Index other = 0; part == 0 && other < parts; ++other) {
    total += partial[other * width + threadIdx.x];
  }
  return total;
}

/// Normalises by one block, which alone knows when to stop; more would have to agree after each
/// round.
__global__ __launch_bounds__(kBalanceThreads) void balance_scores(
    const __grid_constant__ Balance a) {
  __shared__ float partial[kBalanceThreads], of_warps[kMostWarps];
  const Index t = a.logits.t, n = a.logits.n;
  for (Index i = threadIdx.x; i < t * n; i += blockDim.x) {
    a.scores[i] = expf(a.logits.load<float>(i));
  }
  for (Index i = threadIdx.x; i < n; i += blockDim.x) {
    a.d1[i] = 1;
  }
  __syncthreads();
  float change = 1;
  while (static_cast<double>(change) > a.tolerance) {
    for (Index row = threadIdx.x / kWarp; row < t; row += kMostWarps) {
      float sum = 0;
      for (Index i = threadIdx.x % kWarp; i < n; i += kWarp) {
        sum += a.d1[i] * a.scores[row * n + i];
      }
      sum = warp_reduce(sum, Sum{});
      if (threadIdx.x % kWarp == 0) {
        a.d0[row] = 1 / (static_cast<float>(t) * (sum + 1e-8F));
      }
    }
    __syncthreads();
    float own = 0;
    for (Index first = 0; first < n; first += kBalanceThreads) {
      const float sum = column_sum(a, first, partial);
      const Index i = first + threadIdx.x;
      if (i < n) {
        const float next = 1 / (static_cast<float>(n) * (sum + 1e-8F));
        own += fabsf(next - a.d1[i]) / static_cast<float>(n);
        a.d1[i] = next;
      }
    }
    change = block_sum(own, of_warps);
  }
  for (Index i = threadIdx.x; i < t * n; i += blockDim.x) {
    a.scores[i] *= a.d1[i % n] * a.d0[i / n];
  }
}

}  // namespace

void run(device::CudaStream& stream, const TopKRouting& k) {
  const Routing arguments{k.logits,
                          k.chosen_by.as<float>(),
                          k.expert_bias.as<float>(),
                          k.experts.as<std::int64_t>(),
                          k.probabilities,
                          k.rule};
  router::visit_arithmetic(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, router::warp_shape<T>(arguments.logits.t, arguments.logits.n, 3),
           route_tokens<T>, arguments);
  });
}

void run(device::CudaStream& stream, const TopKRoutingBackward& k) {
  const RoutingGradient arguments{k.logits, k.experts.as<std::int64_t>(), k.dprobabilities,
                                  k.dlogits, k.rule};
  router::visit_arithmetic(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, router::warp_shape<T>(arguments.logits.t, arguments.logits.n, 3),
           routing_gradients<T>, arguments);
  });
}

Index workspace_bytes(const device::CudaStream&, const Sinkhorn& k) {
  return (k.logits.size(0) + k.logits.size(1)) * static_cast<Index>(sizeof(float));
}

void run(device::CudaStream& stream, const Sinkhorn& k) {
  auto* d0 = static_cast<float*>(k.workspace.data);
  launch(stream, k.name, {1, kBalanceThreads}, balance_scores,
         Balance{k.logits, k.scores.as<float>(), d0, d0 + k.logits.size(0), k.tolerance});
}

}  // namespace mpitron::kernels
