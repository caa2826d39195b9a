// Builds Mamba's mixer around the shared recurrent layer: sizes of its heads, its convolution and
// its scan's parameters.
#include <cmath>

#include "nn/state_space/recurrent_layers.h"

namespace mpitron::nn {

using Kind = autograd::Initialization::Kind;

MambaMixer::MambaMixer(const Builder& builder, Index layer_number) : RecurrentLayer(builder) {
  const config::ModelConfig& config = builder.config();
  const config::MambaConfig& mamba = config.hybrid.mamba;
  const Index d = mamba.width(), both = mamba.shared(), h = config.hidden_size;
  const Index ranks = shared_.size(), channels = mamba.channels(), out = mamba.projected();
  const tensor::Shard parts = builder.pieces_of_parts({d, d, both, both, mamba.heads});
  in_proj_ = &builder.linear_weight("in_proj.weight", out, h, parts);
  in_updates_ = LowRankUpdates::of_columns(builder, {DropoutSite::low_rank_qkv, h},
                                           {{"in_proj", out, {.width = out / ranks}, parts}});
  const tensor::Shard rows = builder.pieces_of_parts({d, both, both});
  const autograd::Initialization start{
      .kind = Kind::uniform, .bound = 1 / std::sqrt(static_cast<double>(kMambaConvWidth))};
  core_.conv_weight =
      &builder.parameter("conv1d.weight", {channels, 1, kMambaConvWidth}, rows, start);
  core_.conv_bias = &builder.parameter("conv1d.bias", {channels}, rows, start);
  const auto of_heads = [&](const char* name, Kind kind) {
    return &builder.parameter(name, {mamba.heads}, builder.piece(0, mamba.heads), {.kind = kind});
  };
  ops::ScanSettings scan{.groups = mamba.groups / ranks, .state_dim = mamba.state_dim};
  scan.dt_bias = of_heads("dt_bias", Kind::inverse_steps);
  scan.a_log = of_heads("A_log", Kind::log_of_rate);
  scan.d = of_heads("D", Kind::ones);
  core_.norm = {
      .weight = &builder.parameter("norm.weight", {d}, builder.piece(0, d), {.kind = Kind::ones}),
      .groups = scan.groups};
  core_.recurrence = scan;
  out_proj_ = &builder.output_weight("out_proj.weight", h, d, config.num_layers);
  out_updates_ = LowRankUpdates::of_rows(builder, {DropoutSite::low_rank_proj, d}, "out_proj", h);

  const Index width = d / ranks, own = both / ranks, heads = mamba.heads / ranks;
  const comm::GroupHandle& context = builder.groups().context;
  const Index sharing = context == nullptr ? 1 : context->size();
  core_.number = layer_number;
  core_.gate = {0, width};
  core_.channels = {width, 2 * width + 2 * own};
  core_.steps = {core_.channels.end, core_.channels.end + heads};
  const Index pieces = std::min(scan.groups, sharing);  // of B and C
  core_.exchange = {context,
                    {{width, width, sharing},
                     {2 * width, own, pieces},
                     {2 * width + own, own, pieces},
                     {core_.steps.begin, heads, sharing}}};
}

}  // namespace mpitron::nn
