// Builds a layer from its spec and runs it. Norms and their inputs may be dropped between forward
// and backward; the residual is added in the stream's type.
#include "nn/layers/transformer_layer.h"

#include <algorithm>

#include "autograd/recompute.h"
#include "nn/base/drop_path.h"
#include "nn/layers/layer_rows.h"
#include "ops/elementwise/bias_dropout_add.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Recomputable;
using autograd::Var;
using tensor::Tensor;

namespace {

using config::FeedForwardKind;
using config::LayerSpec;
using config::MixerKind;

std::optional<Norm> make_norm(const Builder& builder, const char* name, bool present) {
  return present ? std::optional(Norm(builder, name, builder.config().hidden_size)) : std::nullopt;
}

/// Grows evenly from 0 in the first layer.
double drop_path_rate(const config::ModelConfig& config, Index layer_number) {
  const auto last = static_cast<double>(std::max<Index>(config.num_layers - 1, 1));
  return config.drop_path * static_cast<double>(layer_number - 1) / last;
}

std::optional<CrossAttention> make_cross_attention(const Builder& builder, Index number,
                                                   bool present) {
  return present ? std::optional(CrossAttention(builder.child("cross_attention"), number))
                 : std::nullopt;
}

}  // namespace

TransformerLayer::TransformerLayer(const Builder& builder, Index layer_number,
                                   const LayerSpec& spec)
    : shared_(builder.tensor_parallel()),
      hidden_dropout_(builder.config().hidden_dropout),
      layer_number_(static_cast<std::uint32_t>(layer_number)),
      drop_path_(drop_path_rate(builder.config(), layer_number)),
      recompute_norms_(builder.config().recomputes(config::RecomputeModule::layernorm)),
      input_norm_(make_norm(builder, row_of(spec.mixer).norm, spec.mixer != MixerKind::none)),
      mixer_(row_of(spec.mixer)
                 .make(builder.child(row_of(spec.mixer).parameters), layer_number, spec)),
      post_mixer_norm_(make_norm(builder, "post_self_attn_layernorm",
                                 mixer_ && builder.config().post_self_attn_layernorm)),
      pre_cross_attention_norm_(
          make_norm(builder, "pre_cross_attn_layernorm", spec.cross_attention)),
      cross_attention_(make_cross_attention(builder, layer_number, spec.cross_attention)),
      pre_mlp_norm_(
          make_norm(builder, "pre_mlp_layernorm", spec.feed_forward != FeedForwardKind::none)),
      feed_forward_(row_of(spec.feed_forward).make(builder.child("mlp"), layer_number)),
      post_mlp_norm_(make_norm(builder, "post_mlp_layernorm",
                               feed_forward_ && builder.config().post_mlp_layernorm)),
      recompute_feed_forward_(builder.config().recomputes(row_of(spec.feed_forward).recompute)) {}

Recomputable TransformerLayer::normed(Context& context, const Norm& norm, const Var& x) const {
  Var y = norm.forward(context, x);
  if (!recompute_norms_ || !context.recording()) {
    return y;
  }
  return {std::move(y), [&norm, input = x.value](Context& again) {
            return norm.forward(again, autograd::constant(input)).value;
          }};
}

BranchOutput TransformerLayer::normed_behind(Context& context, const std::optional<Norm>& norm,
                                             BranchOutput branch) {
  if (!norm) {
    return branch;
  }
  const Var whole = branch.bias == nullptr
                        ? branch.output
                        : ops::bias_dropout_add(context, branch.output, branch.bias, {}, {});
  return {norm->forward(context, whole)};
}

Var TransformerLayer::add(Context& context, const BranchOutput& branch, const Var& residual,
                          DropoutSite site) const {
  const auto number = static_cast<std::uint32_t>(site);
  const auto mask =
      ops::local_mask(ops::dropout_mask(context, hidden_dropout_, layer_number_, number), shared_,
                      residual.shape()[0]);
  if (drop_path_ <= 0 || !context.training()) {
    return ops::bias_dropout_add(context, branch.output, branch.bias, residual, mask);
  }
  const Var added = ops::bias_dropout_add(context, branch.output, branch.bias, {}, mask);
  const Var kept = drop_path(context, added, drop_path_,
                             {.seed = context.seed,
                              .iteration = context.iteration,
                              .layer = layer_number_,
                              .site = static_cast<std::uint32_t>(DropoutSite::drop_path) + number});
  return ops::bias_dropout_add(context, kept, nullptr, residual, {});
}

Var TransformerLayer::forward(Context& context, const Var& x, const LayerInputs& inputs) const {
  Var mixed = x;
  if (mixer_) {
    const Recomputable input = normed(context, *input_norm_, x);
    const BranchOutput branch = mixer_->forward(context, input, inputs);
    mixed = add(context, normed_behind(context, post_mixer_norm_, branch), x,
                DropoutSite::attention_output);
  }
  if (cross_attention_) {
    const Recomputable queries = normed(context, *pre_cross_attention_norm_, mixed);
    mixed = add(context, cross_attention_->forward(context, queries, inputs), mixed,
                DropoutSite::cross_attention_output);
  }
  if (!feed_forward_) {
    return mixed;
  }
  const BranchOutput branch = feed_forward(context, normed(context, *pre_mlp_norm_, mixed));
  return add(context, normed_behind(context, post_mlp_norm_, branch), mixed,
             DropoutSite::mlp_output);
}

void TransformerLayer::keep_encoded(Context& context, const Var& encoder_output) const {
  if (cross_attention_) {
    cross_attention_->keep_encoded(context, encoder_output);
  }
}

BranchOutput TransformerLayer::feed_forward(Context& context, const Recomputable& x) const {
  if (!recompute_feed_forward_) {
    return feed_forward_->forward(context, x);
  }
  const auto output = [this](Context& inner, const Var& input) {
    return feed_forward_->forward(inner, input).output;
  };
  const auto keep = [&x](Context&, const Tensor&) { return autograd::SavedValue(x); };
  return {autograd::recompute(context, output, x.var, keep), feed_forward_->output_bias()};
}

}  // namespace mpitron::nn
