// Counts what recurrent mixers compute, move and keep. Mamba's multiply-adds follow the reference's
// formula, which takes the width for 2 h; all else is counted from the true sizes.
#include "nn/state_space/state_space_costs.h"

#include "nn/state_space/recurrent_layers.h"

namespace mpitron::nn {
namespace {

/// Projections around a convolution and a scan of `channels` numbers; the scan is told as products
/// of its chunks (a state of `state` numbers a channel) and as passes over what it reads.
struct ScanShape {
  Index projected, channels, width, state;
};

LayerWork scan_work(const config::ModelConfig& model, const ScanShape& shape) {
  using Cut = ProductWork::Cut;
  const auto projected = static_cast<double>(shape.projected);
  const auto channels = static_cast<double>(shape.channels);
  const auto width = static_cast<double>(shape.width);
  LayerWork work = residual_work(model);
  work.products = {{.inner = model.hidden_size, .outer = shape.projected, .cut = Cut::outer},
                   {.inner = shape.width, .outer = model.hidden_size, .cut = Cut::inner}};
  work.scores = {.heads = 1,
                 .key_width = shape.width,
                 .value_width = shape.width,
                 .causal = true,
                 .window = 2 * shape.state};
  work.moved.push_back({projected + 4 * channels + 4 * width, Share::tensor});
  work.kept.push_back({projected + channels + 2 * width, Share::tensor});
  work.launches += 10;
  return work;
}

}  // namespace

LayerCosts mamba_costs(const config::ModelConfig& model) {
  const config::MambaConfig& mamba = model.hybrid.mamba;
  const auto h = static_cast<double>(model.hidden_size);
  const auto heads = static_cast<double>(mamba.heads), width = static_cast<double>(mamba.width());
  const auto state = static_cast<double>(mamba.state_dim);
  const double both = 2 * static_cast<double>(mamba.groups) * state;  // B and C
  const double counted = 2 * h;
  const auto projected = static_cast<double>(mamba.projected());
  const auto channels = static_cast<double>(mamba.channels());
  const double conv_state = channels * (kMambaConvWidth - 1);
  // Kept in 16 bits: what the projection makes, the convolution, the scan and the gated norm.
  return {
      .multiply_adds = h * (2 * counted + both + heads) + 7 * counted * state / 2 + counted * h,
      .weights = h * projected + channels * (kMambaConvWidth + 1) + 3 * heads + width + h * width,
      .kept_bytes = residual_bytes(model) + 2 * (projected + channels + 2 * width),
      .state = width * state + conv_state,
      .conv_state = conv_state};
}

LayerCosts delta_net_costs(const config::ModelConfig& model) {
  const config::DeltaNetConfig& net = model.hybrid.delta_net;
  const auto h = static_cast<double>(model.hidden_size);
  const auto values = static_cast<double>(net.values());
  const auto heads = static_cast<double>(net.value_heads);
  const auto key_dim = static_cast<double>(net.key_dim);
  const auto conv_width = static_cast<double>(net.conv_width);
  const auto projected = static_cast<double>(net.projected());
  const auto channels = static_cast<double>(net.channels());
  const double conv_state = channels * (conv_width - 1);
  // Each head corrects its state, adds to it and reads it.
  return {.multiply_adds = h * (projected + values) + 3 * key_dim * values,
          .weights = h * projected + channels * conv_width + 2 * heads +
                     static_cast<double>(net.value_dim) + h * values,
          .kept_bytes = residual_bytes(model) + 2 * (projected + channels + 2 * values),
          .state = key_dim * values + conv_state,
          .conv_state = conv_state};
}

LayerWork mamba_work(const config::ModelConfig& model, const config::LayerSpec& /*spec*/) {
  const config::MambaConfig& mamba = model.hybrid.mamba;
  return scan_work(model, {.projected = mamba.projected(),
                           .channels = mamba.channels(),
                           .width = mamba.width(),
                           .state = mamba.state_dim});
}

LayerWork delta_net_work(const config::ModelConfig& model, const config::LayerSpec& /*spec*/) {
  const config::DeltaNetConfig& net = model.hybrid.delta_net;
  return scan_work(model, {.projected = net.projected(),
                           .channels = net.channels(),
                           .width = net.values(),
                           .state = net.key_dim});
}

}  // namespace mpitron::nn
