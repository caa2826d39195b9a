// Numerical contract: that of kernels/experts/expert_bias.h.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/experts/expert_bias.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// A few numbers: every thread adds all tokens, in order.
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
