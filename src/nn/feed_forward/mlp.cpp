// Builds a dense feed-forward network. The first layer is column parallel and the second row
// parallel, so that one sum over the ranks ends the block.
#include "nn/feed_forward/mlp.h"

#include "ops/linear/parallel_linear.h"

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
    case config::ActivationKind::quick_gelu:
      return ops::Activation::quick_gelu;
    case config::ActivationKind::squared_relu:
      break;
  }
  return ops::Activation::squared_relu;
}

}  // namespace

ops::ActivationSettings activation_settings(const config::ActivationConfig& config) {
  ops::ActivationSettings settings{activation_of(config.activation), config.gated_linear_unit};
  if (config.activation_clamp) {
    settings.limits.clamp = static_cast<float>(*config.activation_clamp);
  }
  settings.limits.offset = static_cast<float>(config.glu_linear_offset);
  return settings;
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
  make_updates(builder, ffn);
}

/// The names of the halves of a gated first layer are Hugging Face's.
void Mlp::make_updates(const Builder& builder, Index ffn) {
  const Index h = builder.config().hidden_size, local = ffn / shared_.size();
  std::vector<LowRankUpdates::Part> parts;
  if (activation_.gated) {
    parts.push_back({"gate_proj", ffn, {.width = local}});
  }
  parts.push_back({"up_proj", ffn, {.first = activation_.gated ? local : 0, .width = local}});
  fc1_updates_ = LowRankUpdates::of_columns(builder, {DropoutSite::low_rank_fc1, h}, parts);
  fc2_updates_ = LowRankUpdates::of_rows(builder, {DropoutSite::low_rank_fc2, ffn}, "down_proj", h);
}

/// W2 act(W1 x + b1), of which each rank computes the part that its columns give; b2 is left to the
/// residual addition.
BranchOutput Mlp::forward(autograd::Context& context, const autograd::Recomputable& x) const {
  autograd::Var hidden = ops::column_parallel_linear(context, x, *fc1_weight_, nullptr, shared_);
  hidden = fc1_updates_.add(context, x, std::move(hidden));
  const autograd::Var activated = ops::activation(context, hidden, fc1_bias_, activation_);
  autograd::Var projected = ops::row_parallel_linear(context, activated, *fc2_weight_, shared_);
  return {fc2_updates_.add(context, activated, std::move(projected)), fc2_bias_};
}

}  // namespace mpitron::nn
