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

/// Steps N elements: of the mean gradient m, that of its squares v, and the parameters p.
template <int N>
__device__ void update(const AdamRule& rule, const Floats<N>& grad, Floats<N>& p, Floats<N>& m,
                       Floats<N>& v) {
  for (int j = 0; j < N; ++j) {
    const float g = grad[j] * rule.grad_scale;
    m[j] = fmaf(m[j], rule.beta1, g * rule.rest1);
    v[j] = fmaf(v[j], rule.beta2, g * g * rule.rest2);
    const float step = rule.rate * m[j] / (sqrtf(v[j] * rule.inverse2) + rule.eps);
    p[j] -= fmaf(p[j], rule.decay, step);
  }
}

/// Updates packs of Adam's tensors. A pack of scaled numbers needs its block's exponent, so threads
/// that share a block of stored numbers agree on it.
__global__ void adam_packs(const __grid_constant__ Table<AdamTensor> table) {
  const Share<AdamTensor>& share = table.share();
  const AdamTensor& a = share.tensor;
  for_stored_packs(a.n, share.thread(), [&](Index i, int count) {
    const auto grad = a.grad.load(i, count);
    auto param = a.param.load(i, count);
    auto exp_avg = a.exp_avg.load(i, count), exp_avg_sq = a.exp_avg_sq.load(i, count);
    update(a.rule, grad, param, exp_avg, exp_avg_sq);
    a.exp_avg.store(i, count, exp_avg);
    a.exp_avg_sq.store(i, count, exp_avg_sq);
    a.param.store(i, count, param);
    if (a.model_param.values != nullptr) {
      a.model_param.store(i, count, param);
    }
  });
}

/// Whether no array is scaled, split or unaligned, and gradients are of type G: those of a model's
/// plain training.
template <class G>
bool is_plain(const AdamStep& k) {
  const AdamTensor a(k);
  const auto fp32 = [](const StoredArray& x) { return x.dtype == DType::f32 && x.aligned; };
  const StoredArray& copy = a.model_param;
  return fp32(a.param) && fp32(a.exp_avg) && fp32(a.exp_avg_sq) && a.grad.aligned &&
         a.grad.dtype == element_dtype<G>() && (copy.values == nullptr || copy.aligned);
}

/// Loads N elements of a tensor's four arrays, all before the first is used.
template <class G, int N>
struct PlainPack {
  Raw<float, N> param, exp_avg, exp_avg_sq;
  Raw<G, N> grad;

  __device__ void load(const AdamTensor& a, Index i) {
    param = load_raw(static_cast<const float*>(a.param.values) + i, Width<N>());
    exp_avg = load_raw(static_cast<const float*>(a.exp_avg.values) + i, Width<N>());
    exp_avg_sq = load_raw(static_cast<const float*>(a.exp_avg_sq.values) + i, Width<N>());
    grad = load_raw(static_cast<const G*>(a.grad.values) + i, Width<N>());
  }
  __device__ void step(const AdamTensor& a, Index i) const {
    Floats<N> p = floats(param), m = floats(exp_avg), v = floats(exp_avg_sq);
    update(a.rule, floats(grad), p, m, v);
    store(static_cast<float*>(a.exp_avg.values) + i, m);
    store(static_cast<float*>(a.exp_avg_sq.values) + i, v);
    store(static_cast<float*>(a.param.values) + i, p);
    if (a.model_param.values != nullptr) {
      store(AnyOutput{a.model_param.values, a.model_param.dtype, i}, p);
    }
  }
};

/// Updates Adam's tensors where all of a launch are plain: types are known, so loads do not wait
/// for each other, and neighbours' accesses of 16 bytes touch.
template <class G>
__global__ void adam_plain(const __grid_constant__ Table<AdamTensor> table) {
  constexpr int kWide = 4, kAhead = 2;
  const Share<AdamTensor>& share = table.share();
  const AdamTensor& a = share.tensor;
  const Worker thread = share.thread();
  const Index whole = a.n / kWide * kWide, step = thread.count * kWide;
  for (Index first = thread.index * kWide; first < whole; first += kAhead * step) {
    PlainPack<G, kWide> packs[kAhead];
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      if (first + ahead * step < whole) {
        packs[ahead].load(a, first + ahead * step);
      }
    }
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      if (first + ahead * step < whole) {
        packs[ahead].step(a, first + ahead * step);
      }
    }
  }
  for (Index i = whole + thread.index; i < a.n; i += thread.count) {
    PlainPack<G, 1> element;
    element.load(a, i);
    element.step(a, i);
  }
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

/// Arguments of Lion's step, in types known at run time.
struct LionTensor {
  Numbers param, exp_avg, grad, model_param;
  Index n = 0;
  bool packed = false;
  float lr, beta1, beta2, keep, grad_scale;

  LionTensor() = default;
  explicit LionTensor(const LionStep& k)
      : param(k.param),
        exp_avg(k.exp_avg),
        grad(k.grad),
        model_param(k.model_param),
        n(k.param.numel()),
        packed(param.fits_packs() && exp_avg.fits_packs() && grad.fits_packs() &&
               model_param.fits_packs()),
        lr(k.lr),
        beta1(k.beta1),
        beta2(k.beta2),
        keep(1.F - k.lr * k.weight_decay),
        grad_scale(k.grad_scale) {}
};

__global__ void lion_packs(const __grid_constant__ Table<LionTensor> table) {
  const Share<LionTensor>& share = table.share();
  const LionTensor& a = share.tensor;
  for_packs(a.n, a.packed, share.thread(), [&](Index i, auto width) {
    auto grad = a.grad.load(i, width), average = a.exp_avg.load(i, width);
    auto param = a.param.load(i, width);
    for (int j = 0; j < width; ++j) {
      const float g = grad[j] * a.grad_scale;
      const float mixed = fmaf(average[j], a.beta1, g * (1.F - a.beta1));
      const float step = mixed > 0 ? a.lr : mixed < 0 ? -a.lr : 0.F;
      param[j] = param[j] * a.keep - step;
      average[j] = fmaf(average[j], a.beta2, g * (1.F - a.beta2));
    }
    a.param.store(i, param);
    a.exp_avg.store(i, average);
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

/// Launches kStepsTogether tensors at a time; kernel_of(steps) chooses the kernel.
template <class Tensor, class Step, class KernelOf>
void run_together(device::CudaStream& stream, const Steps<Step>& k, KernelOf&& kernel_of) {
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
    launch(stream, k.name, shape, kernel_of(steps), table);
  }
}

}  // namespace

/// Runs one step as a table of one; which kernel an element is updated by does not change its bits.
void run(device::CudaStream& stream, const AdamStep& k) {
  run(stream, AdamSteps{{&k, 1}});
}

void run(device::CudaStream& stream, const AdamSteps& k) {
  run_together<AdamTensor>(stream, k, [](auto steps) {
    if (std::all_of(steps.begin(), steps.end(), is_plain<float>)) {
      return adam_plain<float>;
    }
    const bool bf16 = std::all_of(steps.begin(), steps.end(), is_plain<__nv_bfloat16>);
    return bf16 ? adam_plain<__nv_bfloat16> : adam_packs;
  });
}

void run(device::CudaStream& stream, const SgdStep& k) {
  run(stream, SgdSteps{{&k, 1}});
}

void run(device::CudaStream& stream, const SgdSteps& k) {
  run_together<SgdTensor>(stream, k, [](auto) { return sgd_packs; });
}

void run(device::CudaStream& stream, const LionStep& k) {
  run(stream, LionSteps{{&k, 1}});
}

void run(device::CudaStream& stream, const LionSteps& k) {
  run_together<LionTensor>(stream, k, [](auto) { return lion_packs; });
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
