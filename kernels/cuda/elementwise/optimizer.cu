// Numerical contract: that of kernels/elementwise/optimizer.h; fp32, element by element.
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/common/stored_numbers.cuh"
#include "kernels/elementwise/optimizer.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// A tensor and its blocks of a grid that works on several.
template <class Tensor>
struct Share {
  Tensor tensor;
  unsigned first_block, blocks;

  __device__ bool has_block(unsigned block) const { return block - first_block < blocks; }
  __device__ Worker thread() const {
    return {static_cast<Index>(blockIdx.x - first_block) * blockDim.x + threadIdx.x,
            static_cast<Index>(blocks) * blockDim.x};
  }
};

/// Tensors of one launch, as its arguments: models have hundreds of small tensors, whose launches
/// would take longer than their work.
template <class Tensor>
struct Table {
  Share<Tensor> shares[kStepsTogether];
  static_assert(sizeof(shares) <= 4096, "what every GPU takes as a kernel's arguments");

  /// Returns the share of this block.
  const __device__ Share<Tensor>& share() const {
    const Share<Tensor>* share = shares;
    while (!share->has_block(blockIdx.x)) {
      ++share;
    }
    return *share;
  }
};

struct AdamTensor {
  StoredArray param, exp_avg, exp_avg_sq, grad, model_param;
  Index n = 0;
  AdamRule rule;

  AdamTensor() = default;
  explicit AdamTensor(const AdamStep& k)
      : param(k.param),
        exp_avg(k.exp_avg),
        exp_avg_sq(k.exp_avg_sq),
        grad(k.grad),
        model_param(In(k.model_param)),
        n(k.param.numel()),
        rule(k) {}
};

/// Updates packs of Adam's tensors. A pack of scaled numbers needs its block's exponent, so threads
/// that share a block of stored numbers agree on it.
__global__ void adam_packs(const __grid_constant__ Table<AdamTensor> table) {
  const Share<AdamTensor>& share = table.share();
  const AdamTensor& a = share.tensor;
  for_stored_packs(a.n, share.thread(), [&](Index i, int count) {
    const AdamRule& rule = a.rule;
    const auto grad = a.grad.load(i, count);
    auto param = a.param.load(i, count);
    auto exp_avg = a.exp_avg.load(i, count), exp_avg_sq = a.exp_avg_sq.load(i, count);
    for (int j = 0; j < kPack; ++j) {
      const float g = grad[j] * rule.grad_scale;
      const float m = fmaf(exp_avg[j], rule.beta1, g * rule.rest1);
      const float v = fmaf(exp_avg_sq[j], rule.beta2, g * g * rule.rest2);
      const float step = rule.rate * m / (sqrtf(v * rule.inverse2) + rule.eps);
      exp_avg[j] = m;
      exp_avg_sq[j] = v;
      param[j] -= fmaf(param[j], rule.decay, step);
    }
    a.exp_avg.store(i, count, exp_avg);
    a.exp_avg_sq.store(i, count, exp_avg_sq);
    a.param.store(i, count, param);
    if (a.model_param.values != nullptr) {
      a.model_param.store(i, count, param);
    }
  });
}

/// Arguments of an SGD step on one tensor, in types known at run time.
struct SgdTensor {
  Numbers param, momentum_buffer, grad, model_param;
  Index n = 0;
  bool packed = false;
  float lr, momentum, weight_decay, grad_scale;

  SgdTensor() = default;
  explicit SgdTensor(const SgdStep& k)
      : param(k.param),
        momentum_buffer(k.momentum_buffer),
        grad(k.grad),
        model_param(k.model_param),
        n(k.param.numel()),
        packed(param.fits_packs() && momentum_buffer.fits_packs() && grad.fits_packs() &&
               model_param.fits_packs()),
        lr(k.lr),
        momentum(k.momentum),
        weight_decay(k.weight_decay),
        grad_scale(k.grad_scale) {}
};

__global__ void sgd_packs(const __grid_constant__ Table<SgdTensor> table) {
  const Share<SgdTensor>& share = table.share();
  const SgdTensor& a = share.tensor;
  for_packs(a.n, a.packed, share.thread(), [&](Index i, auto width) {
    auto step = a.grad.load(i, width);
    auto param = a.param.load(i, width);
    for (int j = 0; j < width; ++j) {
      step[j] = step[j] * a.grad_scale + a.weight_decay * param[j];
    }
    if (a.momentum_buffer.data != nullptr) {
      const auto velocity = a.momentum_buffer.load(i, width);
      for (int j = 0; j < width; ++j) {
        step[j] += a.momentum * velocity[j];
      }
      a.momentum_buffer.store(i, step);
    }
    for (int j = 0; j < width; ++j) {
      param[j] -= a.lr * step[j];
    }
    a.param.store(i, param);
    if (a.model_param.data != nullptr) {
      a.model_param.store(i, param);
    }
  });
}

/// Counts elements that are exactly zero; integers, so atomics may add them in any order.
template <class T>
__global__ void count_zeros(const T* x, Index n, bool packed, unsigned long long* result) {
  __shared__ unsigned partial[kMostWarps];
  unsigned zeros = 0;
  for_packs(n, packed, thread_of_grid(), [&](Index i, auto width) {
    const auto values = load(x + i, width);
    for (int j = 0; j < width; ++j) {
      zeros += values[j] == 0 ? 1 : 0;
    }
  });
  zeros = block_sum(zeros, partial);
  if (threadIdx.x == 0) {
    atomicAdd(result, static_cast<unsigned long long>(zeros));
  }
}

/// Launches kStepsTogether tensors at a time.
template <class Tensor, class Step>
void run_together(device::CudaStream& stream, const Steps<Step>& k, void (*kernel)(Table<Tensor>)) {
  for (auto rest = k.steps; !rest.empty();) {
    const auto steps = rest.first(std::min(rest.size(), kStepsTogether));
    rest = rest.subspan(steps.size());
    Table<Tensor> table{};
    LaunchShape shape{0, kThreads};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Tensor tensor(steps[i]);
      const unsigned blocks = flat_shape(tensor.n).grid.x;
      table.shares[i] = {tensor, shape.grid.x, blocks};
      shape.grid.x += blocks;
    }
    launch(stream, k.name, shape, kernel, table);
  }
}

}  // namespace

/// Runs one step as a table of one, so that there is a single kernel and one set of bits.
void run(device::CudaStream& stream, const AdamStep& k) {
  run(stream, AdamSteps{{&k, 1}});
}

void run(device::CudaStream& stream, const AdamSteps& k) {
  run_together(stream, k, adam_packs);
}

void run(device::CudaStream& stream, const SgdStep& k) {
  run(stream, SgdSteps{{&k, 1}});
}

void run(device::CudaStream& stream, const SgdSteps& k) {
  run_together(stream, k, sgd_packs);
}

void run(device::CudaStream& stream, const CountZeros& k) {
  auto* result = static_cast<unsigned long long*>(k.result.data);
  device::check(cudaMemsetAsync(result, 0, sizeof(*result), stream.handle), k.name);
  visit_element(k.x.dtype, [&]<class T>() {
    const T* x = elements<T>(k.x);
    launch(stream, k.name, flat_shape(k.x.numel()), count_zeros<T>, x, k.x.numel(), all_packed(x),
           result);
  });
}

}  // namespace mpitron::kernels
