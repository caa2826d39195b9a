#include "nn/layers/layer_rows.h"

#include <array>

#include "nn/attention/attention_costs.h"
#include "nn/attention/multi_latent_attention.h"
#include "nn/attention/self_attention.h"
#include "nn/feed_forward/feed_forward_costs.h"
#include "nn/feed_forward/moe_layer.h"
#include "nn/state_space/recurrent_layers.h"
#include "nn/state_space/state_space_costs.h"

namespace mpitron::nn {
namespace {

using config::FeedForwardKind;
using config::LayerSpec;
using config::MixerKind;
using config::ModelConfig;
using config::RecomputeModule;

LayerCosts no_costs(const ModelConfig& /*model*/) {
  return {};
}

LayerWork no_work(const ModelConfig& /*model*/, const LayerSpec& /*spec*/) {
  return {};
}

template <class Made>
std::unique_ptr<Mixer> make_mixer(const Builder& builder, Index number, const LayerSpec& /*spec*/) {
  return std::make_unique<Made>(builder, number);
}

std::unique_ptr<Mixer> make_self_attention(const Builder& builder, Index number,
                                           const LayerSpec& spec) {
  return std::make_unique<SelfAttention>(builder, number, spec.causal);
}

std::unique_ptr<Mixer> no_mixer(const Builder& /*builder*/, Index /*number*/,
                                const LayerSpec& /*spec*/) {
  return nullptr;
}

std::unique_ptr<FeedForward> no_feed_forward(const Builder& /*builder*/, Index /*number*/) {
  return nullptr;
}

std::unique_ptr<FeedForward> make_mlp(const Builder& builder, Index /*number*/) {
  return std::make_unique<Mlp>(builder);
}

std::unique_ptr<FeedForward> make_experts(const Builder& builder, Index number) {
  return std::make_unique<MoeLayer>(builder, number);
}

constexpr const char *kNorm = "input_layernorm", *kAttention = "self_attention";

constexpr auto kMixers = std::to_array<MixerRow>({
    {MixerKind::none, kNorm, "", no_costs, no_work, no_mixer},
    {MixerKind::attention, kNorm, kAttention, self_attention_costs, self_attention_work,
     make_self_attention},
    {MixerKind::latent_attention, kNorm, kAttention, latent_attention_costs, latent_attention_work,
     make_mixer<MultiLatentAttention>},
    {MixerKind::sparse_attention, kNorm, kAttention, sparse_attention_costs, sparse_attention_work,
     make_mixer<MultiLatentAttention>},
    {MixerKind::state_space, "norm", "mixer", mamba_costs, mamba_work, make_mixer<MambaMixer>},
    {MixerKind::delta_net, kNorm, kAttention, delta_net_costs, delta_net_work,
     make_mixer<GatedDeltaNet>},
});

constexpr auto kFeedForwards = std::to_array<FeedForwardRow>({
    {FeedForwardKind::none, RecomputeModule::mlp, no_costs, no_work, no_feed_forward},
    {FeedForwardKind::dense, RecomputeModule::mlp, mlp_costs, mlp_work, make_mlp},
    {FeedForwardKind::experts, RecomputeModule::moe, experts_costs, experts_work, make_experts},
});

static_assert(config::in_order(kMixers) && config::in_order(kFeedForwards));

}  // namespace

const MixerRow& row_of(MixerKind kind) {
  return kMixers.at(static_cast<std::size_t>(kind));
}

const FeedForwardRow& row_of(FeedForwardKind kind) {
  return kFeedForwards.at(static_cast<std::size_t>(kind));
}

/// Each half has a norm in front of it and may have one behind, counted as a weight and a bias. One
/// behind keeps its input.
LayerCosts layer_costs(const ModelConfig& model, const LayerSpec& spec) {
  LayerCosts costs = row_of(spec.mixer).costs(model);
  costs += row_of(spec.feed_forward).costs(model);
  const bool mixes = spec.mixer != MixerKind::none;
  const bool feeds = spec.feed_forward != FeedForwardKind::none;
  const int behind = (mixes && model.post_self_attn_layernorm ? 1 : 0) +
                     (feeds && model.post_mlp_layernorm ? 1 : 0);
  const int norms = (mixes ? 1 : 0) + (feeds ? 1 : 0) + behind;
  costs.weights += static_cast<double>(2 * norms * model.hidden_size);
  costs.kept_bytes += static_cast<double>(2 * behind * model.hidden_size);
  return costs;
}

LayerWork mixer_work(const ModelConfig& model, const LayerSpec& spec) {
  LayerWork work = row_of(spec.mixer).work(model, spec);
  if (spec.mixer != MixerKind::none && model.post_self_attn_layernorm) {
    work += norm_work(model);
  }
  return work;
}

LayerWork feed_forward_work(const ModelConfig& model, const LayerSpec& spec) {
  LayerWork work = row_of(spec.feed_forward).work(model, spec);
  if (spec.feed_forward != FeedForwardKind::none && model.post_mlp_layernorm) {
    work += norm_work(model);
  }
  return work;
}

}  // namespace mpitron::nn
