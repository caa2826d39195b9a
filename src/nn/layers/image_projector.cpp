#include "nn/layers/image_projector.h"

#include "ops/elementwise/bias_dropout_add.h"
#include "ops/linear/parallel_linear.h"

namespace mpitron::nn {

using autograd::Var;

ImageProjector::ImageProjector(const Builder& builder, config::ProjectorKind kind, Index inputs)
    : shared_(builder.tensor_parallel()), activation_(activation_settings(builder.config())) {
  const config::ModelConfig& config = builder.config();
  const Index h = config.hidden_size;
  if (kind == config::ProjectorKind::affine) {
    weight_ = &builder.linear_weight("weight", h, inputs);
    bias_ = builder.bias("bias", h, config.add_bias_linear);
    return;
  }
  const Index halves = config.gated_linear_unit ? 2 : 1, inner = halves * config.ffn_hidden_size;
  const tensor::Shard rows = builder.piece(0, inner, halves);
  weight_ = &builder.linear_weight("linear_fc1.weight", inner, inputs, rows);
  bias_ = builder.bias("linear_fc1.bias", inner, config.add_bias_linear, rows);
  fc2_weight_ = &builder.output_weight("linear_fc2.weight", h, config.ffn_hidden_size);
  fc2_bias_ = builder.output_bias("linear_fc2.bias", h, config.add_bias_linear);
}

Var ImageProjector::forward(autograd::Context& context, const Var& x) const {
  if (fc2_weight_ == nullptr) {
    return ops::linear(context, x, *weight_, bias_);
  }
  const Var inner = ops::column_parallel_linear(context, x, *weight_, nullptr, shared_);
  const Var activated = ops::activation(context, inner, bias_, activation_);
  const Var y = ops::row_parallel_linear(context, activated, *fc2_weight_, shared_);
  return fc2_bias_ == nullptr ? y : ops::bias_dropout_add(context, y, fc2_bias_, {}, {});
}

}  // namespace mpitron::nn
