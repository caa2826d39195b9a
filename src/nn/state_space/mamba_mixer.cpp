#include "nn/state_space/mamba_mixer.h"

#include <cmath>

#include "ops/elementwise/columns.h"
#include "ops/linear/parallel_linear.h"
#include "ops/state_space/causal_conv.h"

namespace mpitron::nn {

using Kind = autograd::Initialization::Kind;

MambaMixer::MambaMixer(const Builder& builder) : shared_(builder.tensor_parallel()) {
  const config::ModelConfig& config = builder.config();
  const config::MambaConfig& mamba = config.hybrid.mamba;
  const Index d = mamba.width(), both = mamba.groups * mamba.state_dim, h = config.hidden_size;
  const Index ranks = shared_.size(), channels = d + 2 * both;
  width_ = d / ranks;
  conv_width_ = channels / ranks;
  const Index out = d + channels + mamba.heads;
  const tensor::Shard parts = builder.pieces_of_parts({d, d, both, both, mamba.heads});
  in_proj_ = &builder.linear_weight("in_proj.weight", out, h, parts);
  in_updates_ = LowRankUpdates::of_columns(builder, {DropoutSite::low_rank_qkv, h},
                                           {{"in_proj", out, {.width = out / ranks}, parts}});
  const tensor::Shard rows = builder.pieces_of_parts({d, both, both});
  const autograd::Initialization start{
      .kind = Kind::uniform, .bound = 1 / std::sqrt(static_cast<double>(kMambaConvWidth))};
  conv_weight_ = &builder.parameter("conv1d.weight", {channels, 1, kMambaConvWidth}, rows, start);
  conv_bias_ = &builder.parameter("conv1d.bias", {channels}, rows, start);
  const auto of_heads = [&](const char* name, Kind kind) {
    return &builder.parameter(name, {mamba.heads}, builder.piece(0, mamba.heads), {.kind = kind});
  };
  scan_.dt_bias = of_heads("dt_bias", Kind::inverse_steps);
  scan_.a_log = of_heads("A_log", Kind::log_of_rate);
  scan_.d = of_heads("D", Kind::ones);
  scan_.groups = norm_.groups = mamba.groups / ranks;
  scan_.state_dim = mamba.state_dim;
  norm_.weight = &builder.parameter("norm.weight", {d}, builder.piece(0, d), {.kind = Kind::ones});
  out_proj_ = &builder.output_weight("out_proj.weight", h, d, config.num_layers);
  out_updates_ = LowRankUpdates::of_rows(builder, {DropoutSite::low_rank_proj, d}, "out_proj", h);
}

/// in_proj makes gates, channels (x, B, C) and a step a head; the convolution mixes channels over
/// time; the scan runs h = exp(A dt) h + dt B x, y = C h + D x (Dao and Gu 2024).
BranchOutput MambaMixer::forward(autograd::Context& context, const autograd::Recomputable& x,
                                 const LayerInputs& /*inputs*/) const {
  autograd::Var all = ops::column_parallel_linear(context, x, *in_proj_, nullptr, shared_);
  all = in_updates_.add(context, x, std::move(all));
  const auto [gate, rest] = ops::split_columns(context, all, width_);
  const auto [channels, steps] = ops::split_columns(context, rest, conv_width_);
  const autograd::Var convolved = ops::causal_conv(context, channels, *conv_weight_, conv_bias_);
  const autograd::Var scanned = ops::selective_scan(context, convolved, steps, scan_);
  const autograd::Var normed = ops::gated_norm(context, scanned, gate, norm_);
  autograd::Var projected = ops::row_parallel_linear(context, normed, *out_proj_, shared_);
  return {out_updates_.add(context, normed, std::move(projected))};
}

}  // namespace mpitron::nn
