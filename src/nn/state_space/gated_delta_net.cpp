#include "nn/state_space/gated_delta_net.h"

#include <cmath>

#include "ops/elementwise/columns.h"
#include "ops/linear/parallel_linear.h"
#include "ops/state_space/causal_conv.h"

namespace mpitron::nn {

using Kind = autograd::Initialization::Kind;

GatedDeltaNet::GatedDeltaNet(const Builder& builder) : shared_(builder.tensor_parallel()) {
  const config::DeltaNetConfig& net = builder.config().hybrid.delta_net;
  const Index keys = net.key_heads * net.key_dim, values = net.value_heads * net.value_dim;
  const Index heads = net.value_heads, h = builder.config().hidden_size, ranks = shared_.size();
  conv_width_ = (2 * keys + values) / ranks;
  gate_width_ = values / ranks;
  const Index out = 2 * (keys + values + heads);
  const tensor::Shard parts = builder.pieces_of_parts({keys, keys, values, values, heads, heads});
  in_proj_ = &builder.linear_weight("in_proj.weight", out, h, parts);
  in_updates_ = LowRankUpdates::of_columns(builder, {DropoutSite::low_rank_qkv, h},
                                           {{"in_proj", out, {.width = out / ranks}, parts}});
  conv_weight_ = &builder.parameter(
      "conv1d.weight", {2 * keys + values, 1, net.conv_width},
      builder.pieces_of_parts({keys, keys, values}),
      {.kind = Kind::uniform, .bound = 1 / std::sqrt(static_cast<double>(net.conv_width))});
  rule_.dt_bias =
      &builder.parameter("dt_bias", {heads}, builder.piece(0, heads), {.kind = Kind::ones});
  rule_.a_log =
      &builder.parameter("A_log", {heads}, builder.piece(0, heads), {.kind = Kind::log_of_rate});
  rule_.key_heads = net.key_heads / ranks;
  rule_.key_dim = net.key_dim;
  norm_.weight = &builder.parameter("out_norm.weight", {net.value_dim}, {}, {.kind = Kind::ones});
  norm_.weight->placement.sum_over_tensor =
      ranks > 1;  // each rank knows its heads' part of the gradient
  norm_.eps = static_cast<float>(builder.config().norm_epsilon);
  norm_.gate_first = false;
  out_proj_ = &builder.output_weight("out_proj.weight", h, values);
  out_updates_ =
      LowRankUpdates::of_rows(builder, {DropoutSite::low_rank_proj, values}, "out_proj", h);
}

/// in_proj makes queries, keys, values, gates and two numbers a head; the convolution mixes the
/// first three over time; the delta rule reads a state that each token corrects (Yang et al. 2024).
BranchOutput GatedDeltaNet::forward(autograd::Context& context, const autograd::Recomputable& x,
                                    const LayerInputs& /*inputs*/) const {
  autograd::Var all = ops::column_parallel_linear(context, x, *in_proj_, nullptr, shared_);
  all = in_updates_.add(context, x, std::move(all));
  const auto [qkv, rest] = ops::split_columns(context, all, conv_width_);
  const auto [gate, steps] = ops::split_columns(context, rest, gate_width_);
  const autograd::Var convolved = ops::causal_conv(context, qkv, *conv_weight_, nullptr);
  const autograd::Var read = ops::delta_rule(context, convolved, steps, rule_);
  const autograd::Var normed = ops::gated_norm(context, read, gate, norm_);
  autograd::Var projected = ops::row_parallel_linear(context, normed, *out_proj_, shared_);
  return {out_updates_.add(context, normed, std::move(projected))};
}

}  // namespace mpitron::nn
