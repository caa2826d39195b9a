#include "config/layer_pattern.h"

#include <algorithm>
#include <array>

// What each layer of a model is, from its flags or from a pattern of letters, and the tables that
// describe the kinds of mixers and feed-forward networks. A new kind is a row here.

namespace mpitron::config {
namespace {

constexpr auto kMixers = std::to_array<MixerFacts>({
    {MixerKind::none, "-", 0, LayerState::none},
    {MixerKind::attention, "self attention", '*', LayerState::key_value_cache},
    {MixerKind::latent_attention, "latent attention", '+', LayerState::key_value_cache},
    {MixerKind::sparse_attention, "sparse attention", 'D', LayerState::key_value_cache},
    {MixerKind::state_space, "mamba", 'M', LayerState::recurrent},
    {MixerKind::delta_net, "delta net", 'G', LayerState::recurrent},
});

constexpr auto kFeedForwards = std::to_array<FeedForwardFacts>({
    {FeedForwardKind::none, "-", 0},
    {FeedForwardKind::dense, "mlp", '-'},
    {FeedForwardKind::experts, "experts", 'E'},
});

static_assert(in_order(kMixers) && in_order(kFeedForwards));

/// Returns a layer's place in lists that end with the last layer; those behind it are as that one.
std::size_t place_of(Index number, Index layers) {
  return static_cast<std::size_t>(std::min(number, layers) - 1);
}

bool marked(const std::vector<bool>& list, std::size_t place, bool otherwise) {
  return place < list.size() ? list[place] : otherwise;
}

/// Returns a layer of one residual branch. A letter that no kind has is left to the rules, and
/// stands for a Mamba layer until then.
LayerSpec spec_of(char letter) {
  const auto mixer = std::ranges::find(kMixers, letter, &MixerFacts::letter);
  const auto network = std::ranges::find(kFeedForwards, letter, &FeedForwardFacts::letter);
  if (network != kFeedForwards.end()) {
    return {.mixer = MixerKind::none, .feed_forward = network->kind};
  }
  return {.mixer = mixer == kMixers.end() ? MixerKind::state_space : mixer->kind,
          .feed_forward = FeedForwardKind::none};
}

/// Describes a layer of a model without a pattern: attention in every layer, experts where
/// --moe-layer-freq says.
LayerSpec transformer_spec(const ModelConfig& model, Index number) {
  const std::size_t place = place_of(number, model.num_layers);
  LayerSpec spec;
  if (model.multi_latent_attention) {
    spec.mixer = model.indexer ? MixerKind::sparse_attention : MixerKind::latent_attention;
  }
  if (marked(model.hybrid.delta_layers, place, false)) {
    spec.mixer = MixerKind::delta_net;
  }
  spec.cross_attention = model.family().encoder_decoder && number > model.num_layers;
  if (model.moe && marked(model.moe->layers, place, false)) {
    spec.feed_forward = FeedForwardKind::experts;
  }
  return spec;
}

/// Describes a layer of a model whose layers are letters; behind them come those of the depths of
/// prediction.
LayerSpec letter_spec(const HybridConfig& hybrid, Index number) {
  const auto layers = static_cast<Index>(hybrid.pattern.size());
  if (number > layers && !hybrid.depth_pattern.empty()) {
    const auto place = static_cast<std::size_t>(number - layers - 1);
    return spec_of(hybrid.depth_pattern[place % hybrid.depth_pattern.size()]);
  }
  return spec_of(hybrid.pattern[place_of(number, layers)]);
}

/// Returns the number that --window-attn-skip-freq knows a layer by. Depths of prediction count by
/// themselves: each is a layer, or they all have the same letters.
Index window_number(const ModelConfig& model, Index number) {
  const Index behind = number - model.num_layers;
  if (behind <= 0 || model.family().encoder_decoder) {
    return number;
  }
  return model.hybrid.depth_pattern.empty() ? behind : (behind - 1) % model.depth_layers() + 1;
}

}  // namespace

std::span<const MixerFacts> mixer_kinds() {
  return kMixers;
}

const MixerFacts& facts(MixerKind kind) {
  return kMixers[static_cast<std::size_t>(kind)];
}

const FeedForwardFacts& facts(FeedForwardKind kind) {
  return kFeedForwards[static_cast<std::size_t>(kind)];
}

const char* LayerSpec::mixer_name() const {
  return cross_attention ? "self and cross" : facts(mixer).name;
}

/// Numbers run over encoder and decoder: those behind num_layers belong to a T5's decoder.
LayerSpec layer_spec(const ModelConfig& model, Index number) {
  LayerSpec spec = model.hybrid.pattern.empty() ? transformer_spec(model, number)
                                                : letter_spec(model.hybrid, number);
  spec.causal = model.family().decoder_only || spec.cross_attention;
  const Index rotating = number <= model.num_layers ? number : 1;
  spec.rotates = !marked(model.no_rope_layers, place_of(rotating, model.num_layers), false);
  const std::size_t window_place = place_of(window_number(model, number), model.num_layers);
  spec.window = model.window_size && marked(model.window_layers, window_place, true);
  spec.chunk = spec.rotates ? model.attention_chunk_size.value_or(0) : 0;
  return spec;
}

bool keeps_states(const ModelConfig& model, Index first, Index last) {
  bool keeps = false;
  for (Index number = first; number <= last; ++number) {
    keeps |= facts(layer_spec(model, number).mixer).state == LayerState::recurrent;
  }
  return keeps;
}

/// In the order of their global numbers, which no layout changes.
std::vector<LayerSpec> layer_pattern(const ModelConfig& model) {
  std::vector<LayerSpec> layers;
  for (Index number = 1; number <= model.all_layers(); ++number) {
    layers.push_back(layer_spec(model, number));
  }
  return layers;
}

/// Answers without a walk over the layers for models without a pattern, which many rules ask.
bool has_mixer(const ModelConfig& model, MixerKind kind) {
  const bool others =
      !model.hybrid.pattern.empty() || !model.hybrid.delta_layers.empty() || model.indexer;
  return others && std::ranges::count(layer_pattern(model), kind, &LayerSpec::mixer) > 0;
}

/// Collects the letters of rows that have one; the parser and its messages ask here, so that a new
/// row needs no other list.
std::string pattern_letters() {
  std::string letters;
  for (const MixerFacts& mixer : kMixers) {
    letters += mixer.letter == 0 ? "" : std::string(1, mixer.letter);
  }
  for (const FeedForwardFacts& network : kFeedForwards) {
    letters += network.letter == 0 ? "" : std::string(1, network.letter);
  }
  return letters;
}

}  // namespace mpitron::config
