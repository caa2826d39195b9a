// Numerical contract: that of kernels/optimizer.h; fp32, element by element.
#include <algorithm>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/optimizer.h"

namespace mpitron::kernels {
namespace {

constexpr int kThreads = 256;
constexpr Index kMaxBlocks = 1 << 16;

/// The scalars of one step and the fp32 arrays it updates in place.
struct AdamArguments {
  float *param, *exp_avg, *exp_avg_sq;
  Index n;
  float lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2, grad_scale;
};

template <class Grad, class Model>
__global__ void adam_elements(AdamArguments a, const Grad* grad, Model* model_param) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < a.n; i += step) {
    const float g = static_cast<float>(grad[i]) * a.grad_scale;
    const float m = a.beta1 * a.exp_avg[i] + (1 - a.beta1) * g;
    const float v = a.beta2 * a.exp_avg_sq[i] + (1 - a.beta2) * g * g;
    const float update = m / a.bias_correction1 / (sqrtf(v / a.bias_correction2) + a.eps);
    const float param = a.param[i] - a.lr * (update + a.weight_decay * a.param[i]);
    a.exp_avg[i] = m;
    a.exp_avg_sq[i] = v;
    a.param[i] = param;
    if (model_param != nullptr) {
      model_param[i] = static_cast<Model>(param);
    }
  }
}

template <class Grad, class Model>
void run_typed(device::CudaStream& stream, const AdamStep& k) {
  const Index n = k.param.numel();
  if (n > 0) {
    const AdamArguments arguments{k.param.as<float>(),
                                  k.exp_avg.as<float>(),
                                  k.exp_avg_sq.as<float>(),
                                  n,
                                  k.lr,
                                  k.beta1,
                                  k.beta2,
                                  k.eps,
                                  k.weight_decay,
                                  k.bias_correction1,
                                  k.bias_correction2,
                                  k.grad_scale};
    const auto blocks = static_cast<unsigned>(std::min((n + kThreads - 1) / kThreads, kMaxBlocks));
    cuda::launch(stream, AdamStep::name, {blocks, kThreads},
                 adam_elements<typename cuda::DeviceType<Grad>::type,
                               typename cuda::DeviceType<Model>::type>,
                 arguments, cuda::device_data<Grad>(k.grad),
                 cuda::device_data<Model>(k.model_param));
  }
}

}  // namespace

void run(device::CudaStream& stream, const AdamStep& k) {
  visit_dtype(k.grad.dtype, [&]<class Grad>() {
    if (!k.model_param) {
      run_typed<Grad, float>(stream, k);
    } else {
      visit_dtype(k.model_param.dtype, [&]<class Model>() { run_typed<Grad, Model>(stream, k); });
    }
  });
}

}  // namespace mpitron::kernels
