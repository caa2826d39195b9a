#include "kernels/experts/expert_bias.h"

#include <numeric>

namespace mpitron::kernels {

void run(device::ReferenceStream&, const ExpertBiasUpdate& kernel) {
  const double* tokens = kernel.tokens.as<double>();
  float* bias = kernel.bias.as<float>();
  const Index n = kernel.tokens.numel();
  const auto sum = static_cast<float>(std::accumulate(tokens, tokens + n, 0.0));
  const float mean = sum / static_cast<float>(n);
  for (Index i = 0; i < n; ++i) {
    const float offset = mean - static_cast<float>(tokens[i]);
    const float sign = offset > 0 ? 1.F : offset < 0 ? -1.F : 0.F;
    bias[i] += sign * kernel.rate;
  }
}

}  // namespace mpitron::kernels
