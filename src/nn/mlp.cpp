#include "nn/mlp.h"

#include "ops/parallel_linear.h"

namespace mpitron::nn {
namespace {

ops::Activation activation_of(config::ActivationKind kind) {
  switch (kind) {
    case config::ActivationKind::gelu_tanh:
      return ops::Activation::gelu_tanh;
    case config::ActivationKind::gelu_erf:
      return ops::Activation::gelu_erf;
    case config::ActivationKind::silu:
      return ops::Activation::silu;
    case config::ActivationKind::squared_relu:
      break;
  }
  return ops::Activation::squared_relu;
}

}  // namespace

ops::ActivationSettings activation_settings(const config::ModelConfig& config) {
  return {activation_of(config.activation), config.gated_linear_unit};
}

Mlp::Mlp(const Builder& builder, Index ffn) : shared_(builder.tensor_parallel()) {
  const config::ModelConfig& config = builder.config();
  const Index h = config.hidden_size;
  const Index halves = config.gated_linear_unit ? 2 : 1, fc1_size = halves * ffn;
  const tensor::Shard rows = builder.piece(0, fc1_size, halves);
  activation_ = activation_settings(config);
  fc1_weight_ = &builder.linear_weight("linear_fc1.weight", fc1_size, h, rows);
  fc1_bias_ = builder.bias("linear_fc1.bias", fc1_size, config.add_bias_linear, rows);
  fc2_weight_ = &builder.output_weight("linear_fc2.weight", h, ffn);
  fc2_bias_ = builder.output_bias("linear_fc2.bias", h, config.add_bias_linear);
}

BranchOutput Mlp::forward(autograd::Context& context, const autograd::Renewable& x) const {
  const autograd::Var hidden =
      ops::column_parallel_linear(context, x, *fc1_weight_, nullptr, shared_);
  const autograd::Var activated = ops::activation(context, hidden, fc1_bias_, activation_);
  return {ops::row_parallel_linear(context, activated, *fc2_weight_, shared_), fc2_bias_};
}

}  // namespace mpitron::nn
