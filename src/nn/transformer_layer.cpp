#include "nn/transformer_layer.h"

#include "autograd/recompute.h"
#include "config/layer_kind.h"
#include "ops/bias_dropout_add.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Renewable;
using autograd::Var;
using tensor::Tensor;

namespace {

std::variant<SelfAttention, MultiLatentAttention> make_attention(const Builder& builder,
                                                                 Index layer_number, bool causal) {
  using Attention = config::LayerKind::Attention;
  if (config::layer_kind(builder.config(), layer_number).attention == Attention::latent) {
    return MultiLatentAttention(builder, layer_number);
  }
  return SelfAttention(builder, layer_number, causal);
}

std::variant<Mlp, MoeLayer> make_mlp(const Builder& builder, Index layer_number) {
  using FeedForward = config::LayerKind::FeedForward;
  if (config::layer_kind(builder.config(), layer_number).feed_forward == FeedForward::experts) {
    return MoeLayer(builder, layer_number);
  }
  return Mlp(builder);
}

bool recomputes_mlp(const config::ModelConfig& config, const std::variant<Mlp, MoeLayer>& mlp) {
  return config.recomputes(std::holds_alternative<Mlp>(mlp) ? config::RecomputeModule::mlp
                                                            : config::RecomputeModule::moe);
}

}  // namespace

TransformerLayer::TransformerLayer(const Builder& builder, Index layer_number, AttentionKind kind)
    : shared_(builder.tensor_parallel()),
      hidden_dropout_(builder.config().hidden_dropout),
      layer_number_(static_cast<std::uint32_t>(layer_number)),
      recompute_norms_(builder.config().recomputes(config::RecomputeModule::layernorm)),
      input_norm_(builder, "input_layernorm", builder.config().hidden_size),
      attention_(make_attention(builder.child("self_attention"), layer_number, kind.causal)),
      pre_cross_attention_norm_(kind.cross_attention
                                    ? std::optional(Norm(builder, "pre_cross_attn_layernorm",
                                                         builder.config().hidden_size))
                                    : std::nullopt),
      cross_attention_(kind.cross_attention ? std::optional(CrossAttention(
                                                  builder.child("cross_attention"), layer_number))
                                            : std::nullopt),
      pre_mlp_norm_(builder, "pre_mlp_layernorm", builder.config().hidden_size),
      mlp_(make_mlp(builder.child("mlp"), layer_number)),
      recompute_mlp_(recomputes_mlp(builder.config(), mlp_)) {}

Renewable TransformerLayer::normed(Context& context, const Norm& norm, const Var& x) const {
  Var y = norm.forward(context, x);
  if (!recompute_norms_ || !context.recording()) {
    return y;
  }
  return {std::move(y), [&norm, input = x.value](Context& again) {
            return norm.forward(again, autograd::constant(input)).value;
          }};
}

Var TransformerLayer::add(Context& context, const BranchOutput& branch, const Var& residual,
                          DropoutSite site) const {
  const auto mask =
      ops::dropout_mask(context, hidden_dropout_, layer_number_, static_cast<std::uint32_t>(site));
  return ops::bias_dropout_add(context, branch.output, branch.bias, residual,
                               ops::local_mask(mask, shared_, residual.shape()[0]));
}

Var TransformerLayer::forward(Context& context, const Var& x, const LayerInputs& inputs) const {
  Var attended = add(context, attention_branch(context, normed(context, input_norm_, x), inputs), x,
                     DropoutSite::attention_output);
  if (cross_attention_) {
    const Renewable queries = normed(context, *pre_cross_attention_norm_, attended);
    attended = add(context, cross_attention_->forward(context, queries, inputs), attended,
                   DropoutSite::cross_attention_output);
  }
  return add(context, mlp_branch(context, normed(context, pre_mlp_norm_, attended)), attended,
             DropoutSite::mlp_output);
}

BranchOutput TransformerLayer::attention_branch(Context& context, const Renewable& x,
                                                const LayerInputs& inputs) const {
  return std::visit([&](const auto& attention) { return attention.forward(context, x, inputs); },
                    attention_);
}

BranchOutput TransformerLayer::mlp_branch(Context& context, const Renewable& x) const {
  const auto forward = [this](Context& inner, const Renewable& input) {
    return std::visit([&](const auto& mlp) { return mlp.forward(inner, input); }, mlp_);
  };
  if (!recompute_mlp_) {
    return forward(context, x);
  }
  const auto output = [forward](Context& inner, const Var& input) {
    return forward(inner, input).output;
  };
  const auto keep = [&x](Context&, const Tensor&) { return autograd::Kept(x); };
  return {autograd::recompute(context, output, x.var, keep), output_bias()};
}

Parameter* TransformerLayer::output_bias() const {
  const Mlp* mlp = std::get_if<Mlp>(&mlp_);
  return mlp != nullptr ? mlp->output_bias() : nullptr;
}

}  // namespace mpitron::nn
