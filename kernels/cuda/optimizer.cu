// Numerical contract: that of kernels/optimizer.h; fp32, element by element.
#include "kernels/cuda/numbers.cuh"
#include "kernels/cuda/stored_numbers.cuh"
#include "kernels/optimizer.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// One tensor and its blocks of the grid.
struct AdamTensor {
  StoredArray param, exp_avg, exp_avg_sq, grad, model_param;
  Index n;
  AdamRule rule;
  unsigned first_block, blocks;

  __device__ bool has_block(unsigned block) const { return block - first_block < blocks; }
};

struct AdamTable {
  AdamTensor tensors[AdamSteps::kTogether];
};
static_assert(sizeof(AdamTable) <= 4096, "what every GPU takes as a kernel's arguments");

__global__ void adam_packs(const __grid_constant__ AdamTable table) {
  int mine = 0;
  while (!table.tensors[mine].has_block(blockIdx.x)) {
    ++mine;
  }
  const AdamTensor& a = table.tensors[mine];
  const Worker thread{static_cast<Index>(blockIdx.x - a.first_block) * blockDim.x + threadIdx.x,
                      static_cast<Index>(a.blocks) * blockDim.x};
  for_stored_packs(a.n, thread, [&](Index i, int count) {
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

struct SgdArguments {
  Numbers param, momentum_buffer, grad, model_param;
  Index n;
  bool packed;
  float lr, momentum, weight_decay, grad_scale;
};

__global__ void sgd_elements(const __grid_constant__ SgdArguments a) {
  for_packs(a.n, a.packed, thread_of_grid(), [&](Index i, auto width) {
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

}  // namespace

void run(device::CudaStream& stream, const AdamStep& k) {
  run(stream, AdamSteps{{&k, 1}});
}

void run(device::CudaStream& stream, const AdamSteps& k) {
  for (auto rest = k.steps; !rest.empty();) {
    const auto steps = rest.first(std::min(rest.size(), AdamSteps::kTogether));
    rest = rest.subspan(steps.size());
    AdamTable table{};
    LaunchShape shape{0, kThreads};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const AdamStep& step = steps[i];
      const Index n = step.param.numel();
      const unsigned blocks = flat_shape(n).grid.x;
      table.tensors[i] = {step.param,
                          step.exp_avg,
                          step.exp_avg_sq,
                          StoredArray(step.grad),
                          StoredArray(In(step.model_param)),
                          n,
                          AdamRule(step),
                          shape.grid.x,
                          blocks};
      shape.grid.x += blocks;
    }
    launch(stream, k.name, shape, adam_packs, table);
  }
}

void run(device::CudaStream& stream, const SgdStep& k) {
  const Numbers param(k.param), momentum_buffer(k.momentum_buffer), grad(k.grad),
      model_param(k.model_param);
  const bool packed = param.fits_packs() && momentum_buffer.fits_packs() && grad.fits_packs() &&
                      model_param.fits_packs();
  const Index n = k.param.numel();
  launch(stream, k.name, flat_shape(n), sgd_elements,
         SgdArguments{param, momentum_buffer, grad, model_param, n, packed, k.lr, k.momentum,
                      k.weight_decay, k.grad_scale});
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
