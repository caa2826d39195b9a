// Numerical contract: that of kernels/elementwise/soft_targets.h. One block passes over a row;
// threads keep results of their own, joined in a fixed order.
#include <cfloat>

#include "kernels/cuda/common/element.cuh"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/rows.h"
#include "kernels/elementwise/soft_targets.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Logits of rows over a temperature, less a centre where there is one.
template <class T>
struct SharpLogits {
  const T* x;
  const float* centre;
  Index v;
  float factor;  // 1 / temperature

  __device__ float operator()(Index row, Index i) const {
    const float value = static_cast<float>(x[row * v + i]);
    return factor * (centre != nullptr ? value - centre[i] : value);
  }
};

/// Returns log sum exp of a row, the same in all threads of the block.
template <class T>
__device__ float log_sum_exp_of(const SharpLogits<T>& logits, Index row, float* partial) {
  float largest = -FLT_MAX;
  for (Index i = threadIdx.x; i < logits.v; i += blockDim.x) {
    largest = fmaxf(largest, logits(row, i));
  }
  largest = block_reduce(largest, partial, Largest{});
  float sum = 0;
  for (Index i = threadIdx.x; i < logits.v; i += blockDim.x) {
    sum += __expf(logits(row, i) - largest);
  }
  return largest + logf(block_sum(sum, partial));
}

/// Target p of the contract: the mean of one or two rows.
struct MeanTargets {
  const float* targets;
  const std::int64_t* sources;
  Index v;

  __device__ float operator()(Index row, Index i) const {
    const std::int64_t a = sources[2 * row], b = sources[2 * row + 1];
    return 0.5f * (targets[(a >= 0 ? a : b) * v + i] + targets[(b >= 0 ? b : a) * v + i]);
  }
};

/// Writes a teacher's softmax, a block to a row.
template <class T>
__global__ void sharp_softmax_rows(const __grid_constant__ SharpLogits<T> logits, float* y) {
  __shared__ float partial[kMostWarps];
  const Index row = blockIdx.x;
  const float lse = log_sum_exp_of(logits, row, partial);
  for (Index i = threadIdx.x; i < logits.v; i += blockDim.x) {
    y[row * logits.v + i] = __expf(logits(row, i) - lse);
  }
}

/// Writes loss and lse of each row: log sum exp first, then the sum over targets.
template <class T>
__global__ void soft_target_rows(const __grid_constant__ SharpLogits<T> logits,
                                 const __grid_constant__ MeanTargets target, float* loss,
                                 float* lse) {
  __shared__ float partial[kMostWarps];
  const Index row = blockIdx.x;
  const float log_sum = log_sum_exp_of(logits, row, partial);
  float sum = 0;
  for (Index i = threadIdx.x; i < logits.v; i += blockDim.x) {
    sum += target(row, i) * (log_sum - logits(row, i));
  }
  const float total = block_sum(sum, partial);
  if (threadIdx.x == 0) {
    loss[row] = total;
    lse[row] = log_sum;
  }
}

/// dlogits = dloss / temperature (softmax - target), element by element from lse.
template <class T>
__global__ void soft_target_gradients(const __grid_constant__ SharpLogits<T> logits,
                                      const __grid_constant__ MeanTargets target, const float* lse,
                                      const float* dloss, T* dlogits) {
  const Index row = blockIdx.x;
  const float scale = dloss[row] * logits.factor;
  for (Index i = threadIdx.x; i < logits.v; i += blockDim.x) {
    const float p = __expf(logits(row, i) - lse[row]);
    dlogits[row * logits.v + i] = static_cast<T>(scale * (p - target(row, i)));
  }
}

template <class T>
SharpLogits<T> sharp_logits(const In& x, const float* centre, float temperature) {
  MPITRON_CHECK(x.contiguous());
  return {elements<T>(x), centre, x.size(-1), 1 / temperature};
}

LaunchShape soft_target_blocks(const In& logits) {
  return {dim3(static_cast<unsigned>(row_count(logits))), dim3(kThreads)};
}

}  // namespace

void run(device::CudaStream& stream, const SharpSoftmax& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    launch(stream, k.name, soft_target_blocks(k.x), sharp_softmax_rows<T>,
           sharp_logits<T>(k.x, k.centre.as<float>(), k.temperature), k.y.as<float>());
  });
}

void run(device::CudaStream& stream, const SoftTargetForward& k) {
  visit_element(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, soft_target_blocks(k.logits), soft_target_rows<T>,
           sharp_logits<T>(k.logits, nullptr, k.temperature),
           MeanTargets{k.targets.as<float>(), k.sources.as<std::int64_t>(), k.targets.size(-1)},
           k.loss.as<float>(), k.lse.as<float>());
  });
}

void run(device::CudaStream& stream, const SoftTargetBackward& k) {
  visit_element(k.logits.dtype, [&]<class T>() {
    launch(stream, k.name, soft_target_blocks(k.logits), soft_target_gradients<T>,
           sharp_logits<T>(k.logits, nullptr, k.temperature),
           MeanTargets{k.targets.as<float>(), k.sources.as<std::int64_t>(), k.targets.size(-1)},
           k.lse.as<float>(), k.dloss.as<float>(), elements<T>(k.dlogits));
  });
}

}  // namespace mpitron::kernels
