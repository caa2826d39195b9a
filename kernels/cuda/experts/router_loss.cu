#include "kernels/cuda/common/vector.cuh"
#include "kernels/cuda/experts/router_row.cuh"
#include "kernels/experts/router_loss.h"

// Numerical contract: that of router_loss.h; a warp to a token, sums over experts in its
// order; sums over tokens by one block, each thread every 1024th in order, then the threads.
namespace mpitron::kernels {

namespace {

using namespace cuda;
using router::Matrix;
using Counter = unsigned long long;

constexpr unsigned kSumThreads = kMostWarps * kWarp;

/// loss = factor times the sum of `values`.
__global__ __launch_bounds__(kSumThreads) void add_rows(const double* values, Index n,
                                                        double factor, double* loss) {
  __shared__ double partial[kMostWarps];
  double sum = 0;
  for (Index i = threadIdx.x; i < n; i += blockDim.x) {
    sum += values[i];
  }
  sum = block_sum(sum, partial);
  if (threadIdx.x == 0) {
    *loss = factor * sum;
  }
}

/// Computes the scores that balancing losses see. `x` and `scores` are rows of the warp.
template <class T>
__device__ void balance_scores(const Matrix& logits, Index row, const BalanceRule& rule, T* x,
                               T* scores) {
  const Index n = logits.n;
  router::fill(x, n, [&](Index i) { return logits.load<T>(row * n + i); });
  const auto logit = [&](Index i) { return x[i]; };
  if (rule.score == RouterScore::softmax) {
    router::softmax(n, logit, scores);
  } else {
    router::own_scores(n, {rule.score, true}, logit, scores);
  }
}

/// Counts, for each set of tokens, the experts that the balancing scores would choose, by atomics
/// on integers.
template <class T>
__global__ void count_best(const __grid_constant__ Matrix logits, BalanceRule rule, Index sets,
                           Counter* counters) {
  const Index n = logits.n;
  T* const x = router::shared_row<T>(n, 2, 0);
  T* const scores = router::shared_row<T>(n, 2, 1);
  router::for_tokens(logits.t, [&](Index row) {
    balance_scores(logits, row, rule, x, scores);
    router::largest(scores, n, rule.topk, [&](Index, int expert) {
      if (threadIdx.x == 0) {
        atomicAdd(counters + row % sets * n + expert, Counter{1});
      }
    });
  });
}

__global__ void widen_counts(const Counter* counters, Index n, double* counts) {
  for (Index i = thread_of_grid().index; i < n; i += thread_of_grid().count) {
    counts[i] = static_cast<double>(counters[i]);
  }
}

/// Counts of each set's experts.
struct Counts {
  const double* values;  // [sets, E]
  Index sets, n;

  explicit Counts(const In& view)
      : values(view.as<double>()), sets(view.size(0)), n(view.size(1)) {}
  __device__ double operator()(Index row, Index i) const { return values[row % sets * n + i]; }
};

/// Writes each token's part of a balancing loss in fp64; add_rows adds them in a fixed order.
template <class T>
__global__ void balance_losses(const __grid_constant__ Matrix logits, Counts counts,
                               BalanceRule rule, double* losses) {
  const Index n = logits.n;
  T* const x = router::shared_row<T>(n, 2, 0);
  T* const scores = router::shared_row<T>(n, 2, 1);
  router::for_tokens(logits.t, [&](Index row) {
    balance_scores(logits, row, rule, x, scores);
    const double loss =
        router::sum_of<double>(n, [&](Index i) { return counts(row, i) * scores[i]; });
    if (threadIdx.x == 0) {
      losses[row] = loss;
    }
    __syncwarp();
  });
}

struct BalanceGradient {
  Matrix logits;
  Counts counts;
  const double* dloss;
  Matrix dlogits;
  BalanceRule rule;
  double factor;
};

/// Writes the balancing loss's gradient of a token's logits.
template <class T>
__global__ void balance_gradients(const __grid_constant__ BalanceGradient a) {
  const Index n = a.logits.n;
  T* const x = router::shared_row<T>(n, 3, 0);
  T* const scores = router::shared_row<T>(n, 3, 1);
  T* const dx = router::shared_row<T>(n, 3, 2);
  const double factor = a.factor * *a.dloss;
  router::for_tokens(a.logits.t, [&](Index row) {
    balance_scores(a.logits, row, a.rule, x, scores);
    const auto every = [](Index i) { return i; };
    const auto weight = [&](Index i) { return static_cast<T>(factor * a.counts(row, i)); };
    if (a.rule.score == RouterScore::softmax) {
      router::softmax_gradients(n, scores, every, weight, dx);
    } else {
      router::own_score_gradients(x, n, {a.rule.score, true}, every, weight, dx);
    }
    router::for_lane(n, [&](Index i) { a.dlogits.store<T>(row * n + i, dx[i]); });
    __syncwarp();
  });
}

/// Returns ln sum e^logit of a row, the same in every lane; x receives the row.
template <class T>
__device__ T log_sum_exp(const Matrix& logits, Index row, T* x) {
  router::fill(x, logits.n, [&](Index i) { return logits.load<T>(row * logits.n + i); });
  const T top = router::largest_of<T>(logits.n, [&](Index i) { return x[i]; });
  return top + std::log(router::sum_of<T>(logits.n, [&](Index i) { return std::exp(x[i] - top); }));
}

/// Writes each token's squared log sum exp.
template <class T>
__global__ void z_losses(const __grid_constant__ Matrix logits, double* losses) {
  T* const x = router::shared_row<T>(logits.n, 1, 0);
  router::for_tokens(logits.t, [&](Index row) {
    const double z = log_sum_exp(logits, row, x);
    if (threadIdx.x == 0) {
      losses[row] = z * z;
    }
    __syncwarp();
  });
}

/// dlogits = 2 factor dloss z softmax.
template <class T>
__global__ void z_gradients(const __grid_constant__ Matrix logits, const double* dloss,
                            const __grid_constant__ Matrix dlogits, double factor) {
  const Index n = logits.n;
  T* const x = router::shared_row<T>(n, 1, 0);
  router::for_tokens(logits.t, [&](Index row) {
    const T z = log_sum_exp(logits, row, x);
    const T slope = static_cast<T>(2 * factor * *dloss * static_cast<double>(z));
    router::for_lane(n, [&](Index i) {
      dlogits.store<T>(row * n + i, std::exp(x[i] - z) * slope);  // softmax times slope
    });
    __syncwarp();
  });
}

}  // namespace

Index workspace_bytes(const device::CudaStream&, const BalanceCounts& k) {
  return k.counts.numel() * static_cast<Index>(sizeof(Counter));
}

void run(device::CudaStream& stream, const BalanceCounts& k) {
  const Matrix logits(k.logits);
  const Index n = k.counts.numel();
  auto* counters = static_cast<Counter*>(k.workspace.data);
  device::check(
      cudaMemsetAsync(counters, 0, static_cast<std::size_t>(n) * sizeof(Counter), stream.handle),
      k.name);
  router::visit_arithmetic(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, router::warp_shape<T>(logits.t, logits.n, 2), count_best<T>, logits,
           k.rule, k.counts.size(0), counters);
  });
  launch(stream, k.name, {blocks_for(n, kThreads), kThreads}, widen_counts, counters, n,
         k.counts.as<double>());
}

Index workspace_bytes(const device::CudaStream&, const BalanceLoss& k) {
  return k.logits.size(0) * static_cast<Index>(sizeof(double));
}

void run(device::CudaStream& stream, const BalanceLoss& k) {
  const Matrix logits(k.logits);
  auto* losses = static_cast<double*>(k.workspace.data);
  router::visit_arithmetic(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, router::warp_shape<T>(logits.t, logits.n, 2), balance_losses<T>, logits,
           Counts(k.counts), k.rule, losses);
  });
  launch(stream, k.name, {1, kSumThreads}, add_rows, losses, logits.t, k.factor,
         k.loss.as<double>());
}

void run(device::CudaStream& stream, const BalanceLossBackward& k) {
  const BalanceGradient arguments{k.logits,  Counts(k.counts), k.dloss.as<double>(),
                                  k.dlogits, k.rule,           k.factor};
  router::visit_arithmetic(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, router::warp_shape<T>(arguments.logits.t, arguments.logits.n, 3),
           balance_gradients<T>, arguments);
  });
}

Index workspace_bytes(const device::CudaStream&, const RouterZLoss& k) {
  return k.logits.size(0) * static_cast<Index>(sizeof(double));
}

void run(device::CudaStream& stream, const RouterZLoss& k) {
  const Matrix logits(k.logits);
  auto* losses = static_cast<double*>(k.workspace.data);
  router::visit_arithmetic(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, router::warp_shape<T>(logits.t, logits.n, 1), z_losses<T>, logits,
           losses);
  });
  launch(stream, k.name, {1, kSumThreads}, add_rows, losses, logits.t, k.factor,
         k.loss.as<double>());
}

void run(device::CudaStream& stream, const RouterZLossBackward& k) {
  const Matrix logits(k.logits);
  router::visit_arithmetic(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, router::warp_shape<T>(logits.t, logits.n, 1), z_gradients<T>, logits,
           k.dloss.as<double>(), Matrix(k.dlogits), k.factor);
  });
}

namespace {

/// Updates biases; every thread adds up the tokens of all experts, in order, for they are few
/// numbers.
__global__ void update_bias(const double* tokens, float* bias, Index n, float rate) {
  double sum = 0;
  for (Index e = 0; e < n; ++e) {
    sum += tokens[e];
  }
  const float mean = static_cast<float>(sum) / static_cast<float>(n);
  for (Index e = thread_of_grid().index; e < n; e += thread_of_grid().count) {
    const float offset = mean - static_cast<float>(tokens[e]);
    const float step = offset > 0 ? rate : offset < 0 ? -rate : 0.0f;
    bias[e] += step;
  }
}

}  // namespace

void run(device::CudaStream& stream, const ExpertBiasUpdate& k) {
  const Index n = k.tokens.numel();
  launch(stream, k.name, {blocks_for(n, kThreads), kThreads}, update_bias, k.tokens.as<double>(),
         k.bias.as<float>(), n, k.rate);
}

}  // namespace mpitron::kernels
