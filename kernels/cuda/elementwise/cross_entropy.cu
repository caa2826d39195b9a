// Numerical contract: that of cross_entropy.h. One block passes over a row once: threads
// keep a maximum and a sum of exponentials of their own, joined in a fixed order.
#include <cfloat>

#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/cross_entropy.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// a' of the contract: the weight that smoothing takes from the target.
float spread(float label_smoothing, Index v) {
  return label_smoothing == 0 ? 0
                              : label_smoothing * static_cast<float>(v) / static_cast<float>(v - 1);
}

/// Logits of some rows, and whether packs may be loaded.
template <class T>
struct Logits {
  Rows<const T> rows;
  Index t, v;
  bool packed;
};

template <class T>
Logits<T> logits_of(const In& view) {
  const Rows<const T> rows = rows_of<T>(view);
  return {rows, row_count(view), view.size(-1), all_packed(rows)};
}

/// The maximum of a row and the sum of exp(x - max), as one thread or all of them have it.
struct SoftmaxSums {
  float max, sum;
  float logits;  // their plain sum, for smoothing
};

/// Sums a row; the result is the same in all threads of the block. A thread that meets a larger
/// logit rescales its own sum, then the threads' sums are joined by the common maximum. `partial`:
/// shared memory of kMostWarps floats.
template <bool plain_sum, class T>
__device__ SoftmaxSums softmax_sums(const Logits<T>& logits, const T* x, float* partial) {
  // Finite, so that x - max is never inf - inf where logits are masked.
  SoftmaxSums own{-FLT_MAX, 0, 0};
  const Worker thread{threadIdx.x, blockDim.x};
  for_loaded(x, logits.v, logits.packed, thread, [&]<int N>(Index, const Floats<N>& values) {
    float max = own.max;
    for (int j = 0; j < N; ++j) {
      max = fmaxf(max, values[j]);
    }
    if (max > own.max) {
      own.sum *= __expf(own.max - max);
      own.max = max;
    }
    for (int j = 0; j < N; ++j) {
      own.sum += __expf(values[j] - max);
      own.logits += plain_sum ? values[j] : 0;
    }
  });
  const float max = block_reduce(own.max, partial, Largest{});
  const float sum = block_sum(own.sum * __expf(own.max - max), partial);
  const float plain = plain_sum ? block_sum(own.logits, partial) : 0;
  return {sum == 0 ? -INFINITY : max, sum, plain};
}

/// Computes the loss of a row from its sums.
struct LossRule {
  Index vocabulary;
  float a;  // of smoothing

  __device__ float operator()(float log_sum, const SoftmaxSums& sums, float target) const {
    // (lse - target) with the maximum cancelled before the logarithm is added
    const float loss = log_sum + (sums.max - target);
    const float mean = sums.logits / static_cast<float>(vocabulary);
    return a == 0 ? loss : (1 - a) * loss + a * (log_sum + (sums.max - mean));
  }
};

/// Writes loss and lse, a block to a row (or to several, where there are more rows than a grid
/// takes). With `plain_sum` the sum of logits is taken along, which label smoothing needs.
template <class T, bool plain_sum>
__global__ void cross_entropy_rows(const __grid_constant__ Logits<T> logits,
                                   const std::int64_t* labels, LossRule rule, float* loss,
                                   float* lse) {
  __shared__ float partial[kMostWarps];
  for (Index row = blockIdx.x; row < logits.t; row += gridDim.x) {
    const T* x = logits.rows[row];
    const SoftmaxSums sums = softmax_sums<plain_sum>(logits, x, partial);
    if (threadIdx.x == 0) {
      const float log_sum = logf(sums.sum);
      const Index label = labels[row];
      const bool has_target = label >= 0 && label < logits.v;
      loss[row] = rule(log_sum, sums, has_target ? static_cast<float>(x[label]) : sums.max);
      lse[row] = sums.max + log_sum;
    }
  }
}

/// Writes a rank's four numbers of each row; the label's logit counts where this rank has its
/// column.
template <class T, bool plain_sum>
__global__ void sum_rows(const __grid_constant__ Logits<T> logits, const std::int64_t* labels,
                         Index first_column, float4* results) {
  __shared__ float partial[kMostWarps];
  for (Index row = blockIdx.x; row < logits.t; row += gridDim.x) {
    const T* x = logits.rows[row];
    const SoftmaxSums sums = softmax_sums<plain_sum>(logits, x, partial);
    if (threadIdx.x == 0) {
      const Index column = labels[row] - first_column;
      const bool here = column >= 0 && column < logits.v;
      const float target = here ? static_cast<float>(x[column]) : 0;
      results[row] = make_float4(sums.max, sums.sum, target, sums.logits);
    }
  }
}

struct Join {
  const float4* sums;  // [ranks, t]: max, sum, target, logits
  Index ranks, t;
  const std::int64_t* labels;
  LossRule rule;
  float *loss, *lse;
};

/// Joins the ranks' sums, one thread to a row, in rank order.
__global__ void join_rows(const __grid_constant__ Join a) {
  const auto& [sums, ranks, t, labels, rule, loss, lse] = a;
  for (Index row = thread_of_grid().index; row < t; row += thread_of_grid().count) {
    SoftmaxSums all{-INFINITY, 0, 0};
    for (Index rank = 0; rank < ranks; ++rank) {
      all.max = fmaxf(all.max, sums[rank * t + row].x);
    }
    float target = 0;
    for (Index rank = 0; rank < ranks; ++rank) {
      const float4 part = sums[rank * t + row];
      if (part.x > -INFINITY) {  // else all of its logits are masked
        all.sum += part.y * expf(part.x - all.max);
      }
      target += part.z;
      all.logits += part.w;
    }
    const Index label = labels[row];
    const bool has_target = label >= 0 && label < rule.vocabulary;
    const float log_sum = logf(all.sum);
    loss[row] = rule(log_sum, all, has_target ? target : all.max);
    lse[row] = all.max + log_sum;
  }
}

/// Arguments of the backward pass; two factors fold label smoothing and the size of the vocabulary.
template <class T>
struct Gradient {
  const std::int64_t* labels;
  const float *lse, *dloss;
  Rows<T> dlogits;
  Index first_column;
  float of_target, of_all;  // what the target and every column take from the softmax
};

/// dlogits = dloss (softmax - target), column by column: no sum is needed, since lse is known.
template <class T>
__global__ void gradient_rows(const __grid_constant__ Logits<T> logits,
                              const __grid_constant__ Gradient<T> a) {
  for (Index row = blockIdx.x; row < logits.t; row += gridDim.x) {
    const T* x = logits.rows[row];
    T* dx = a.dlogits[row];
    const float lse = a.lse[row], dloss = a.dloss[row];
    const Index label = a.labels[row] - a.first_column;
    const Worker thread{threadIdx.x, blockDim.x};
    for_loaded(x, logits.v, logits.packed, thread, [&]<int N>(Index i, Floats<N> values) {
      const int target = label >= i && label < i + N ? static_cast<int>(label - i) : -1;
      for (int j = 0; j < N; ++j) {
        const float taken = j == target ? a.of_target + a.of_all : a.of_all;
        values[j] = (__expf(values[j] - lse) - taken) * dloss;
      }
      store(dx + i, values);
    });
  }
}

/// Calls f<T, plain_sum>().
template <class F>
void visit_rows(DType logits, bool plain_sum, F&& f) {
  visit_element(logits, [&]<class T>() {
    if (plain_sum) {
      f.template operator()<T, true>();
    } else {
      f.template operator()<T, false>();
    }
  });
}

}  // namespace

void run(device::CudaStream& stream, const CrossEntropyForward& k) {
  visit_rows(k.logits.dtype, k.label_smoothing != 0, [&]<class T, bool plain_sum>() {
    const Logits<T> logits = logits_of<T>(k.logits);
    const LossRule rule{logits.v, spread(k.label_smoothing, logits.v)};
    launch(stream, k.name, {blocks_for(logits.t, 1), kThreads}, cross_entropy_rows<T, plain_sum>,
           logits, k.labels.as<std::int64_t>(), rule, k.loss.as<float>(), k.lse.as<float>());
  });
}

void run(device::CudaStream& stream, const CrossEntropySums& k) {
  visit_rows(k.logits.dtype, k.plain_sum, [&]<class T, bool plain_sum>() {
    const Logits<T> logits = logits_of<T>(k.logits);
    launch(stream, k.name, {blocks_for(logits.t, 1), kThreads}, sum_rows<T, plain_sum>, logits,
           k.labels.as<std::int64_t>(), k.first_column, static_cast<float4*>(k.sums.data));
  });
}

void run(device::CudaStream& stream, const CrossEntropyJoin& k) {
  const Index ranks = k.sums.size(0), t = k.labels.numel();
  const LossRule rule{k.vocabulary, spread(k.label_smoothing, k.vocabulary)};
  launch(stream, k.name, {blocks_for(t, kThreads), kThreads}, join_rows,
         Join{static_cast<const float4*>(k.sums.data), ranks, t, k.labels.as<std::int64_t>(), rule,
              k.loss.as<float>(), k.lse.as<float>()});
}

void run(device::CudaStream& stream, const CrossEntropyBackward& k) {
  visit_element(k.logits.dtype, [&]<class T>() {
    Logits<T> logits = logits_of<T>(k.logits);
    const Rows<T> dlogits = rows_of<T>(k.dlogits);
    logits.packed &= all_packed(dlogits);
    const Index vocabulary = k.vocabulary > 0 ? k.vocabulary : logits.v;
    const float a = spread(k.label_smoothing, vocabulary);
    launch(stream, k.name, {blocks_for(logits.t, 1), kThreads}, gradient_rows<T>, logits,
           Gradient<T>{k.labels.as<std::int64_t>(), k.lse.as<float>(), k.dloss.as<float>(), dlogits,
                       k.first_column, 1 - a, a / static_cast<float>(vocabulary)});
  });
}

}  // namespace mpitron::kernels
