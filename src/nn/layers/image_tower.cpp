// Builds the image encoder of a vision-language model from the layers of a decoder without causal
// mask, with an embedding in front and norms around them.
#include "nn/layers/image_tower.h"

#include "ops/elementwise/bias_dropout_add.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/embedding.h"
#include "ops/linear/linear.h"
#include "ops/linear/parallel_linear.h"
#include "ops/parallel/sequence_rows.h"
#include "tensor/host_copy.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;

namespace {

/// Row numbers 0, 1, ... of `rows` positions in each of `columns` tiles.
tensor::Tensor row_numbers(Context& context, Index rows, Index columns) {
  const tensor::Tensor numbers = tensor::empty_on_host(context.device, {rows, columns}, DType::i64);
  for (Index i = 0; i < numbers.numel(); ++i) {
    numbers.data<std::int64_t>()[i] = i / columns;
  }
  return tensor::to_device(context.device, numbers);
}

}  // namespace

ImageTower::ImageTower(const Builder& builder, const config::VlmConfig& vlm, Index layers_before,
                       std::optional<ops::RotaryTables> rotary)
    : vlm_(vlm),
      dtype_(builder.config().params_dtype),
      rotary_(std::move(rotary)),
      decoder_(builder.child("decoder"), {.num_layers = vlm.tower_layers, .has_output = false},
               {.causal = false}, layers_before) {
  const Index h = builder.config().hidden_size, width = 3 * vlm.patch * vlm.patch;
  const autograd::Initialization normal{.kind = autograd::Initialization::Kind::normal,
                                        .std = builder.config().init_method_std};
  const config::TowerParts parts = vlm.parts();
  if (parts.class_token != config::ClassToken::none) {
    class_token_ = &builder.parameter("class_token", {1, h}, {}, normal);
  }
  if (parts.norm_in_front) {
    norm_before_.emplace(builder, "ln_pre", h);
  }
  patch_bias_ = builder.bias("conv1.bias", h, parts.patch_bias);
  if (parts.norm_behind) {
    norm_behind_.emplace(builder, "ln_post", h);
  }
  patch_weight_ = &builder.parameter("conv1.weight", {h, width}, {}, uniform_of_inputs(width));
  if (parts.learned_positions) {
    positions_ = &builder.embedding("position_embeddings.weight", vlm.tower_positions(), h);
  }
}

Var ImageTower::with_class_token(Context& context, const Var& x) const {
  const tensor::Tensor first = row_numbers(context, 1, x.shape()[1]);
  const Var token = ops::embedding(context, {first, {}}, *class_token_, nullptr);
  const bool in_front = vlm_.parts().class_token == config::ClassToken::in_front;
  return in_front ? ops::join_rows(context, token, x) : ops::join_rows(context, x, token);
}

Var ImageTower::with_positions(Context& context, const Var& x) const {
  const tensor::Tensor rows = row_numbers(context, vlm_.tower_positions(), x.shape()[1]);
  const Var places = ops::embedding(context, {rows, {}}, *positions_, nullptr);
  return ops::bias_dropout_add(context, x, nullptr, places, {});
}

Var ImageTower::forward(Context& context, const tensor::Tensor& tiles) const {
  const Var input = autograd::constant(ops::converted(context, tiles, dtype_));
  Var x = ops::linear(context, input, *patch_weight_, patch_bias_);
  x = class_token_ != nullptr ? with_class_token(context, x) : x;
  x = positions_ != nullptr ? with_positions(context, x) : x;
  x = norm_before_ ? norm_before_->forward(context, x) : x;
  x = decoder_.forward(context, x, {.rotary = rotary_, .attention_mask = {}});
  return norm_behind_ ? norm_behind_->forward(context, x) : x;
}

ImageProjector::ImageProjector(const Builder& builder, config::ProjectorKind kind, Index inputs)
    : shared_(builder.tensor_parallel()), activation_(activation_settings(builder.config())) {
  const config::ModelConfig& config = builder.config();
  const Index h = config.hidden_size;
  if (kind == config::ProjectorKind::pooled) {
    norm_.emplace(builder, "norm", inputs);
    weight_ = &builder.linear_weight("weight", h, inputs);
    return;
  }
  if (kind == config::ProjectorKind::affine) {
    weight_ = &builder.linear_weight("weight", h, inputs);
    bias_ = builder.bias("bias", h, config.add_bias_linear);
    return;
  }
  const Index halves = config.gated_linear_unit ? 2 : 1, inner = halves * config.ffn_hidden_size;
  const tensor::Shard rows = builder.piece(0, inner, halves);
  weight_ = &builder.linear_weight("linear_fc1.weight", inner, inputs, rows);
  bias_ = builder.bias("linear_fc1.bias", inner, config.add_bias_linear, rows);
  const bool adapts = kind == config::ProjectorKind::adapter;
  const Index outputs = adapts ? config.ffn_hidden_size : h;
  fc2_weight_ = &builder.output_weight("linear_fc2.weight", outputs, config.ffn_hidden_size);
  fc2_bias_ = builder.output_bias("linear_fc2.bias", outputs, config.add_bias_linear);
  if (adapts) {
    behind_mlp_ = &builder.linear_weight("weight", h, outputs);
  }
}

Var ImageProjector::forward(autograd::Context& context, const Var& x) const {
  if (fc2_weight_ == nullptr) {
    return ops::linear(context, norm_ ? norm_->forward(context, x) : x, *weight_, bias_);
  }
  const Var inner = ops::column_parallel_linear(context, x, *weight_, nullptr, shared_);
  const Var activated = ops::activation(context, inner, bias_, activation_);
  const Var y = ops::row_parallel_linear(context, activated, *fc2_weight_, shared_);
  if (behind_mlp_ != nullptr) {
    return ops::linear(context, ops::activation(context, y, fc2_bias_, activation_), *behind_mlp_,
                       nullptr);
  }
  return fc2_bias_ == nullptr ? y : ops::bias_dropout_add(context, y, fc2_bias_, {}, {});
}

}  // namespace mpitron::nn
