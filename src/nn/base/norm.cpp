// Picks RMS norm or layer norm by the configuration and gives its parameters; the kernel does the
// rest.
#include "nn/base/norm.h"

namespace mpitron::nn {

Norm::Norm(const Builder& builder, const std::string& name, Index size)
    : output_dtype_(builder.config().params_dtype) {
  const config::ModelConfig& config = builder.config();
  parameters_.rms = config.normalization == config::Normalization::rms_norm;
  parameters_.eps = static_cast<float>(config.norm_epsilon);
  parameters_.gamma_offset = config.apply_layernorm_1p ? 1.f : 0.f;
  parameters_.gamma = &builder.norm_weight(name + ".weight", size);
  if (!parameters_.rms) {
    parameters_.beta = &builder.norm_bias(name + ".bias", size);
  }
}

autograd::Var Norm::forward(autograd::Context& context, const autograd::Var& x) const {
  return ops::norm(context, x, parameters_, output_dtype_);
}

}  // namespace mpitron::nn
