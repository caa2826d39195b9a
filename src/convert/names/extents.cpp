#include "convert/names/extents.h"

#include "nn/state_space/recurrent_layers.h"
#include "utils/check.h"

// Sizes by their names in the tables of names. Each function knows one group and hands the rest on,
// from the common ones to experts, latents, images and states.

namespace mpitron::convert {
namespace {

using config::ModelConfig;
using enum Extent;

/// Rows of fc1 for each row of its width: a gated MLP has gate and value in one matrix.
Index halves(const ModelConfig& m) {
  return m.gated_linear_unit ? 2 : 1;
}

Index extent_of_states(Extent which, const config::HybridConfig& hybrid) {
  const config::MambaConfig& mamba = hybrid.mamba;
  const config::DeltaNetConfig& net = hybrid.delta_net;
  switch (which) {
    case mamba_width:
      return mamba.width();
    case mamba_channels:
      return mamba.channels();
    case mamba_projected:
      return mamba.projected();
    case mamba_heads:
      return mamba.heads;
    case mamba_taps:
      return nn::kMambaConvWidth;
    case delta_channels:
      return net.channels();
    case delta_streams:
      return net.channels() + net.values();
    case delta_rates:
      return 2 * net.value_heads;
    case delta_projected:
      return net.projected();
    case delta_heads:
      return net.value_heads;
    case delta_values:
      return net.values();
    case delta_value_dim:
      return net.value_dim;
    default:
      MPITRON_CHECK(which == delta_taps, static_cast<int>(which));
      return net.conv_width;
  }
}

Index extent_of_images(Extent which, const ModelConfig& m) {
  switch (which) {
    case patch_pixels:
      return m.vlm ? 3 * m.vlm->patch * m.vlm->patch : m.vision.patch_width();
    case image_classes:
      return m.vision.classes;
    case tower_width:
      return m.vlm->tower_sizes->hidden_size * (m.vlm->pixel_shuffle ? 4 : 1);
    default:
      MPITRON_CHECK(which == projector_width, static_cast<int>(which));
      return m.vlm->projector_sizes->ffn_hidden_size;
  }
}

Index extent_of_latents(Extent which, const ModelConfig& m) {
  const Index n = m.num_attention_heads;
  switch (which) {
    case latent_queries:
      return n * (m.qk_head_dim + m.qk_pos_emb_head_dim);
    case latent_values:
      return n * m.v_head_dim;
    case latent_kv:
      return n * (m.qk_head_dim + m.v_head_dim);
    case query_rank:
      return m.q_lora_rank.value_or(0);
    case kv_rank:
      return m.kv_lora_rank;
    case kv_rank_and_rope:
      return m.kv_lora_rank + m.qk_pos_emb_head_dim;
    case patch_pixels:
    case image_classes:
    case tower_width:
    case projector_width:
      return extent_of_images(which, m);
    default:
      return extent_of_states(which, m.hybrid);
  }
}

Index extent_of_experts(Extent which, const ModelConfig& m) {
  switch (which) {
    case experts:
      return m.moe->num_experts;
    case expert_ffn:
      return m.moe->ffn_hidden_size;
    case expert_fc1:
      return m.moe->ffn_hidden_size * halves(m);
    case shared_ffn:
      return m.moe->shared_expert_intermediate_size;
    case shared_fc1:
      return m.moe->shared_expert_intermediate_size * halves(m);
    default:
      return extent_of_latents(which, m);
  }
}

}  // namespace

/// Sizes of the whole model, not of a rank.
Index extent(Extent which, const ModelDescription& description) {
  const ModelConfig& m = description.model;
  switch (which) {
    case none:
    case one:
      return 1;
    case hidden:
      return m.hidden_size;
    case padded_vocabulary:
      return m.padded_vocab_size;
    case vocabulary:
      return description.stored_vocab_size();
    case positions:
      return m.max_position_embeddings;
    case two:
      return 2;
    case queries:
      return m.num_attention_heads * m.kv_channels;
    case keys:
      return m.num_query_groups * m.kv_channels;
    case qkv:
      return (m.num_attention_heads + 2 * m.num_query_groups) * m.kv_channels;
    case kv:
      return 2 * m.num_query_groups * m.kv_channels;
    case ffn:
      return m.ffn_hidden_size;
    case fc1:
      return m.ffn_hidden_size * halves(m);
    case buckets:
      return m.relative_attention_num_buckets;
    case heads:
      return m.num_attention_heads;
    case channels:
      return m.kv_channels;
    case gated_queries:
      return 2 * m.num_attention_heads * m.kv_channels;
    case gated_qkv:
      return 2 * (m.num_attention_heads + m.num_query_groups) * m.kv_channels;
    default:
      return extent_of_experts(which, m);
  }
}

}  // namespace mpitron::convert
