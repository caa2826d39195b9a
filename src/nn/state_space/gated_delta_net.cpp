#include <cmath>

#include "nn/state_space/recurrent_layers.h"

namespace mpitron::nn {

using Kind = autograd::Initialization::Kind;

GatedDeltaNet::GatedDeltaNet(const Builder& builder, Index layer_number) : RecurrentLayer(builder) {
  const config::DeltaNetConfig& net = builder.config().hybrid.delta_net;
  const Index keys = net.key_heads * net.key_dim, values = net.value_heads * net.value_dim;
  const Index heads = net.value_heads, h = builder.config().hidden_size, ranks = shared_.size();
  const Index out = 2 * (keys + values + heads);
  const tensor::Shard parts = builder.pieces_of_parts({keys, keys, values, values, heads, heads});
  in_proj_ = &builder.linear_weight("in_proj.weight", out, h, parts);
  in_updates_ = LowRankUpdates::of_columns(builder, {DropoutSite::low_rank_qkv, h},
                                           {{"in_proj", out, {.width = out / ranks}, parts}});
  core_.conv_weight = &builder.parameter(
      "conv1d.weight", {2 * keys + values, 1, net.conv_width},
      builder.pieces_of_parts({keys, keys, values}),
      {.kind = Kind::uniform, .bound = 1 / std::sqrt(static_cast<double>(net.conv_width))});
  ops::DeltaRuleSettings rule{.key_heads = net.key_heads / ranks, .key_dim = net.key_dim};
  rule.dt_bias =
      &builder.parameter("dt_bias", {heads}, builder.piece(0, heads), {.kind = Kind::ones});
  rule.a_log =
      &builder.parameter("A_log", {heads}, builder.piece(0, heads), {.kind = Kind::log_of_rate});
  core_.recurrence = rule;
  core_.norm = {
      .weight = &builder.parameter("out_norm.weight", {net.value_dim}, {}, {.kind = Kind::ones}),
      .eps = static_cast<float>(builder.config().norm_epsilon),
      .gate_first = false};
  core_.norm.weight->placement.sum_over_tensor =
      ranks > 1;  // each rank knows its heads' part of the gradient
  out_proj_ = &builder.output_weight("out_proj.weight", h, values);
  out_updates_ =
      LowRankUpdates::of_rows(builder, {DropoutSite::low_rank_proj, values}, "out_proj", h);

  const Index q = keys / ranks, v = values / ranks, own = heads / ranks;
  const comm::GroupHandle& context = builder.groups().context;
  const Index sharing = context == nullptr ? 1 : context->size();
  core_.channels = {0, 2 * q + v};
  core_.number = layer_number;
  core_.gate = {2 * q + v, 2 * q + 2 * v};
  core_.steps = {core_.gate.end, core_.gate.end + 2 * own};
  core_.exchange = {context,
                    {{0, q, sharing},
                     {q, q, sharing},
                     {2 * q, v, sharing},
                     {core_.steps.begin, own, sharing},
                     {core_.steps.begin + own, own, sharing}}};
}

}  // namespace mpitron::nn
