#include "models/llava/llava_model.h"

#include <cmath>

#include "comm/groups/world.h"
#include "models/llava/llava_batch.h"
#include "nn/attention/rotary_embedding.h"
#include "ops/elementwise/reshape.h"
#include "ops/parallel/select_rows.h"
#include "ops/parallel/sequence_rows.h"
#include "ops/parallel/tensor_parallel_regions.h"

// Joins an image tower and a projector to a GPT. Tiles are shared out evenly over ranks, and their
// embeddings brought together again, because images lie unevenly in the texts.

namespace mpitron::models {

using autograd::Context;
using autograd::Var;

namespace {

void take_sizes(config::ModelConfig& config, const config::TowerSizes& sizes) {
  config.hidden_size = sizes.hidden_size;
  config.num_attention_heads = config.num_query_groups = sizes.heads;
  config.group_query_attention = false;
  config.kv_channels = sizes.head_size;
  config.softmax_scale = 1 / std::sqrt(static_cast<double>(sizes.head_size));
  config.ffn_hidden_size = sizes.ffn_hidden_size;
  config.activation = sizes.activation;
  config.gated_linear_unit = false;
  config.normalization = config::Normalization::layer_norm;
  config.norm_epsilon = sizes.norm_epsilon;
  config.apply_layernorm_1p = false;
  config.add_bias_linear = config.add_qkv_bias = true;
  config.qk_layernorm = config.qk_l2_norm = false;
}

/// How the patches of a tower turn. Llama 4 counts columns first, and both from one, so that a
/// patch at the corner does not stand where its class token does.
nn::PatchGrid patch_grid(const config::VlmConfig& vlm) {
  if (vlm.tower == config::TowerKind::llama4) {
    return {.edge = vlm.grid(), .columns_first = true, .first_place = 1, .unturned = 1};
  }
  return {.edge = vlm.grid()};
}

/// Returns the tower's configuration, without dropout: which tiles a rank has depends on the images
/// of others.
config::ModelConfig tower_of(config::ModelConfig config) {
  const config::VlmConfig& vlm = *config.vlm;
  static_cast<config::PositionConfig&>(config) = {
      .position_embedding_type =
          vlm.parts().rotates ? config::PositionEmbedding::rope : config::PositionEmbedding::none,
      .rotary_interleaved = vlm.tower == config::TowerKind::llama4};
  config.moe.reset();
  config.attention_chunk_size.reset();
  config.query_scale.reset();
  config.num_layers = vlm.tower_layers;
  config.attention_sink = config::AttentionSink::none;
  config.window_size.reset();
  config.attn_logit_softcapping.reset();
  config.post_self_attn_layernorm = config.post_mlp_layernorm = false;
  config.hidden_dropout = config.attention_dropout = 0;
  config.reset_attention_mask = false;
  if (vlm.tower_sizes) {
    take_sizes(config, *vlm.tower_sizes);
  }
  if (vlm.recompute_tower) {
    config.recompute_granularity = config::RecomputeGranularity::full;
    config.recompute_method = config::RecomputeMethod::uniform;
    config.recompute_num_layers = 1;
  }
  return config;
}

/// Returns the projector's configuration, with the language model's width.
config::ModelConfig projector_of(config::ModelConfig config) {
  if (config.vlm->projector == config::ProjectorKind::pooled) {
    const auto& tower = config.vlm->tower_sizes;
    config.norm_epsilon = tower ? tower->norm_epsilon : config.norm_epsilon;
    config.normalization = config::Normalization::rms_norm;
    config.apply_layernorm_1p = true;
  }
  if (const auto& sizes = config.vlm->projector_sizes) {
    config.ffn_hidden_size = sizes->ffn_hidden_size;
    config.activation = sizes->activation;
    config.gated_linear_unit = false;
    config.add_bias_linear = config.vlm->projector != config::ProjectorKind::adapter;
  }
  return config;
}

/// No other rank sees a part of a tile.
comm::ParallelGroups whole_sequences(comm::ParallelGroups groups) {
  groups.sequence_parallel = false;
  groups.context = comm::make_single_world()->all();
  groups.context_levels.clear();
  groups.context_exchange.clear();
  return groups;
}

}  // namespace

Var as_rows(Context& context, const Var& x) {
  const Index h = x.shape()[-1];
  return ops::reshape(context, x, {x.value.numel() / h, h});
}

LlavaModel::LlavaModel(const config::ModelConfig& config, device::Device& device, Share share)
    : GptModel(config, device, std::move(share)),
      tower_config_(tower_of(config)),
      projector_config_(projector_of(config)),
      tower_groups_(whole_sequences(groups())) {
  const config::VlmConfig& vlm = *config.vlm;
  if (part().has_embedding) {
    const nn::Builder tower({tower_config_, tower_groups_, parameters()});
    const nn::Builder projector({projector_config_, tower_groups_, parameters()});
    const Index inputs = tower_config_.hidden_size * (vlm.pixel_shuffle ? 4 : 1);
    std::optional<ops::RotaryTables> rotary;
    if (vlm.parts().rotates) {
      rotary =
          nn::make_grid_rotary_tables(device, tower_config_, patch_grid(vlm), config.params_dtype);
    }
    tower_.emplace(tower.child("vision_model"), vlm, config.num_layers, rotary);
    projector_.emplace(projector.child("vision_projection").child("encoder"), vlm.projector,
                       inputs);
  }
  freeze();
}

void LlavaModel::freeze() {
  const config::VlmConfig& vlm = *config().vlm;
  for (autograd::Parameter& parameter : parameters()) {
    const bool language = parameter.name.starts_with("language_model.");
    const bool tower = parameter.name.starts_with("vision_model.");
    parameter.role.frozen = (vlm.freeze_language_model && language) || (vlm.freeze_tower && tower);
  }
}

Batch LlavaModel::batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const {
  const ops::TensorParallel shared = tensor_parallel();
  return llava_batch(device(), microbatch, *config().vlm,
                     {.slice = slice,
                      .text_multiple = shared.cuts_sequence() ? shared.size() : 1,
                      .tile_ranks = groups().context->size(),
                      .tile_rank = groups().context->rank(),
                      .has_axes = !config().mrope_section.empty()});
}

std::span<const std::string_view> LlavaModel::batch_fields() const {
  return llava_fields();
}

nn::LayerInputs LlavaModel::layer_inputs(Context& context, const Batch& batch,
                                         const Var& stream) const {
  nn::LayerInputs inputs = GptModel::layer_inputs(context, batch, stream);
  inputs.seen_until = batch[kSeenUntil];
  if (batch[kAxisPlaces]) {
    inputs.rotary = rotary_rows_at(context, batch[kAxisPlaces]);
  }
  return inputs;
}

Var LlavaModel::embed_cached(Context& context, const Batch& batch) const {
  const Var words = GptModel::embed(context, batch);
  if (!batch[kSeenRows]) {
    return words;
  }
  const Var rows =
      ops::join_rows(context, as_rows(context, words), autograd::constant(batch[kSeenRows]));
  return ops::reshape(context, ops::select_rows(context, rows, {batch[kSeenChoice], {}}),
                      words.shape());
}

Var LlavaModel::embed(Context& context, const Batch& batch) const {
  if (context.cached != nullptr) {
    return embed_cached(context, batch);
  }
  Context of_text = context;  // whole, however merged sequences are cut
  of_text.position.sequence = {};
  Var words = GptModel::embed(of_text, batch);
  const ops::TensorParallel shared = tensor_parallel();
  if (shared.cuts_sequence()) {
    words = ops::replicate_from_sp(context, words, *shared.group);
  }
  const Index b = words.shape()[1], h = words.shape()[2];
  Var rows = as_rows(context, words);
  if (batch[kTiles].numel() > 0) {
    rows = ops::join_rows(context, rows, images(context, batch));
  }
  Var merged = ops::select_rows(context, rows, {batch[kMergedRows], batch[kMergedFrom]});
  merged = ops::reshape(context, merged, {merged.shape()[0] / b, b, h});
  return shared.cuts_sequence() ? ops::scatter_to_sp(context, merged, *shared.group) : merged;
}

}  // namespace mpitron::models
