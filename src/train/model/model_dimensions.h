#pragma once
#include <optional>

#include "config/model_config.h"
#include "utils/shape.h"

namespace mpitron::train {

/// Latent attention (MLA): ranks of the compressions and widths of a head.
struct LatentAttentionDimensions {
  std::optional<Index> q_lora_rank = std::nullopt;  // none: queries are not compressed
  Index kv_lora_rank = 32;
  Index qk_head_dim = 128;
  Index qk_pos_emb_head_dim = 64;
  Index v_head_dim = 128;
};

/// Experts: absent means dense layers only.
struct ExpertDimensions {
  Index num_experts = 0;
  Index num_moe_layers = 0;  // of num_layers
  bool last_layer_is_moe = true;
  Index moe_router_topk = 2;
  Index moe_ffn_hidden_size = 0;
  Index moe_shared_expert_intermediate_size = 0;
};

/// What FLOPs, parameter counts and memory depend on; names of the reference's options.
struct ModelDimensions {
  Index num_layers = 0;
  Index hidden_size = 0;
  Index num_attention_heads = 0;
  Index num_query_groups = 0;  // = num_attention_heads without grouped queries
  Index kv_channels = 0;
  Index ffn_hidden_size = 0;
  Index seq_length = 0;
  Index padded_vocab_size = 0;
  bool swiglu = false;
  bool untie_embeddings_and_output_weights = false;
  Index mtp_num_layers = 0;
  std::optional<ExpertDimensions> experts = std::nullopt;
  std::optional<LatentAttentionDimensions> latent_attention = std::nullopt;

  /// Factor of a gated MLP on its FLOPs and weights.
  double gate_factor() const { return swiglu ? 1.5 : 1.0; }
  /// Width of all heads over the hidden size.
  double projection_ratio() const {
    return static_cast<double>(kv_channels * num_attention_heads) /
           static_cast<double>(hidden_size);
  }
  Index moe_layers() const { return experts ? experts->num_moe_layers : 0; }
  Index dense_layers() const { return num_layers - moe_layers(); }
};

/// Weights (and norms of the latents) of one layer of latent attention; the model must have it.
double latent_attention_parameters(const ModelDimensions& model);

ModelDimensions model_dimensions(const config::ModelConfig& config);

}  // namespace mpitron::train
