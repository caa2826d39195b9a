#include "convert/description/model_options.h"

#include <utility>

#include <fmt/ranges.h>

// The options of the command line that describe a model, as JSON and back: a conversion keeps what
// no other format has a field for.

namespace mpitron::convert {
namespace {

using config::DeltaNetConfig;
using config::HybridConfig;
using config::MambaConfig;
using config::ModelConfig;
using config::MoeConfig;
using config::PositionEmbedding;
using config::RopeType;
using config::RouterScore;

constexpr std::pair<const char*, Index ModelConfig::*> kRelativeIntegers[] = {
    {"relative_attention_num_buckets", &ModelConfig::relative_attention_num_buckets},
    {"relative_attention_max_distance", &ModelConfig::relative_attention_max_distance},
};
constexpr std::pair<const char*, Index ModelConfig::*> kLatentIntegers[] = {
    {"kv_lora_rank", &ModelConfig::kv_lora_rank},
    {"qk_head_dim", &ModelConfig::qk_head_dim},
    {"qk_pos_emb_head_dim", &ModelConfig::qk_pos_emb_head_dim},
    {"v_head_dim", &ModelConfig::v_head_dim},
};
constexpr std::pair<const char*, double ModelConfig::*> kYarnReals[] = {
    {"rotary_scaling_factor", &ModelConfig::rotary_scaling_factor},
    {"mscale", &ModelConfig::mscale},
    {"mscale_all_dim", &ModelConfig::mscale_all_dim},
};
constexpr std::pair<const char*, PositionEmbedding> kPositionNames[] = {
    {"learned_absolute", PositionEmbedding::learned_absolute},
    {"rope", PositionEmbedding::rope},
    {"relative", PositionEmbedding::relative},
    {"none", PositionEmbedding::none}};
constexpr std::pair<const char*, RopeType> kRopeTypes[] = {{"rope", RopeType::rope},
                                                           {"yarn", RopeType::yarn}};
constexpr std::pair<const char*, config::AttentionSink> kSinkWords[] = {
    {"off-by-one", config::AttentionSink::zero}, {"learnable", config::AttentionSink::learned}};
constexpr std::pair<const char*, bool ModelConfig::*> kGemmaFlags[] = {
    {"post_self_attn_layernorm", &ModelConfig::post_self_attn_layernorm},
    {"post_mlp_layernorm", &ModelConfig::post_mlp_layernorm},
    {"scale_embeddings", &ModelConfig::scale_embeddings},
    {"qk_l2_norm", &ModelConfig::qk_l2_norm},
    {"qk_l2_norm_with_rope_only", &ModelConfig::qk_l2_norm_with_rope_only},
};
constexpr std::pair<const char*, std::optional<double> ModelConfig::*> kGemmaReals[] = {
    {"query_pre_attn_scalar", &ModelConfig::query_pre_attn_scalar},
    {"attn_logit_softcapping", &ModelConfig::attn_logit_softcapping},
    {"final_logit_softcapping", &ModelConfig::final_logit_softcapping},
};
constexpr const char* kInterpolation = "rotary_seq_len_interpolation_factor";

/// Writes a mark for each layer: [1,0,1].
std::string list_of(const std::vector<bool>& layers) {
  return fmt::format("[{}]", fmt::join(std::vector<int>(layers.begin(), layers.end()), ","));
}

/// Leaves out q_lora_rank where queries are not compressed: the option has no word for that.
void write_latents(const ModelConfig& model, JsonObject& json) {
  json.set("multi_latent_attention", true);
  if (model.q_lora_rank) {
    json.set("q_lora_rank", *model.q_lora_rank);
  }
  write_all(kLatentIntegers, model, json);
}

constexpr std::pair<const char*, Index MoeConfig::*> kExpertIntegers[] = {
    {"num_experts", &MoeConfig::num_experts},
    {"moe_ffn_hidden_size", &MoeConfig::ffn_hidden_size},
    {"moe_router_topk", &MoeConfig::topk},
};
constexpr std::pair<const char*, bool MoeConfig::*> kExpertFlags[] = {
    {"moe_router_pre_softmax", &MoeConfig::pre_softmax},
    {"moe_router_enable_expert_bias", &MoeConfig::expert_bias},
    {"moe_apply_probs_on_input", &MoeConfig::apply_probs_on_input},
};
constexpr std::pair<const char*, std::optional<Index> MoeConfig::*> kGroupIntegers[] = {
    {"moe_router_num_groups", &MoeConfig::num_groups},
    {"moe_router_group_topk", &MoeConfig::group_topk},
};
constexpr std::pair<const char*, std::optional<double> MoeConfig::*> kExpertReals[] = {
    {"moe_router_topk_scaling_factor", &MoeConfig::topk_scaling_factor},
    {"moe_expert_capacity_factor", &MoeConfig::capacity_factor},
};
constexpr const char* kSharedExpert = "moe_shared_expert_intermediate_size";
constexpr std::pair<const char*, RouterScore> kScores[] = {{"softmax", RouterScore::softmax},
                                                           {"sigmoid", RouterScore::sigmoid}};

constexpr std::pair<const char*, Index MambaConfig::*> kMambaSizes[] = {
    {"mamba_state_dim", &MambaConfig::state_dim},
    {"mamba_head_dim", &MambaConfig::head_dim},
    {"mamba_num_groups", &MambaConfig::groups},
    {"mamba_num_heads", &MambaConfig::heads},
};
constexpr std::pair<const char*, Index config::IndexerConfig::*> kIndexerSizes[] = {
    {"dsa_indexer_n_heads", &config::IndexerConfig::heads},
    {"dsa_indexer_head_dim", &config::IndexerConfig::head_dim},
    {"dsa_indexer_topk", &config::IndexerConfig::topk},
};
constexpr const char *kVariant = "experimental_attention_variant", *kDelta = "gated_delta_net";
constexpr const char *kFrequency = "linear_attention_freq", *kPattern = "hybrid_layer_pattern";
constexpr const char *kGate = "attention_output_gate", *kSharedGate = "moe_shared_expert_gate";

constexpr std::pair<const char*, config::TowerKind> kTowers[] = {
    {"clip", config::TowerKind::clip},
    {"siglip", config::TowerKind::siglip},
    {"qwen2_vl", config::TowerKind::qwen2_vl},
    {"llama4", config::TowerKind::llama4}};
constexpr std::pair<const char*, config::ProjectorKind> kProjectors[] = {
    {"mlp", config::ProjectorKind::mlp},
    {"affine", config::ProjectorKind::affine},
    {"pooled", config::ProjectorKind::pooled},
    {"adapter", config::ProjectorKind::adapter}};
constexpr std::pair<const char*, config::ImageTags> kImageTags[] = {
    {"nvlm", config::ImageTags::nvlm},
    {"internvl", config::ImageTags::internvl},
    {"gemma3", config::ImageTags::gemma3},
    {"qwen2_vl", config::ImageTags::qwen2_vl},
    {"llama4", config::ImageTags::llama4}};
constexpr std::pair<const char*, config::ActivationKind> kTowerActivations[] = {
    {"quick_gelu", config::ActivationKind::quick_gelu},
    {"gelu_tanh", config::ActivationKind::gelu_tanh},
    {"gelu", config::ActivationKind::gelu_erf}};
constexpr std::pair<const char*, Index config::TowerSizes::*> kTowerSizes[] = {
    {"vision_hidden_size", &config::TowerSizes::hidden_size},
    {"vision_num_attention_heads", &config::TowerSizes::heads},
    {"vision_kv_channels", &config::TowerSizes::head_size},
    {"vision_ffn_hidden_size", &config::TowerSizes::ffn_hidden_size},
};

}  // namespace

void write_images(const config::VisionConfig& vision, JsonObject& json) {
  json.set("img_h", vision.image_height);
  json.set("img_w", vision.image_width);
  json.set("patch_dim", vision.patch);
  json.set("class_token_length", vision.class_tokens);
  json.set("class_head", vision.linear_head ? "linear" : "mlp");
  json.set("num_classes", vision.classes);
}

void write_vision(const config::VlmConfig& vlm, JsonObject& json) {
  write_choice("vision_model_type", kTowers, vlm.tower, json);
  write_choice("vision_projection_type", kProjectors, vlm.projector, json);
  json.set("encoder_num_layers", vlm.tower_layers);
  json.set("img_h", vlm.tile);
  json.set("img_w", vlm.tile);
  json.set("patch_dim", vlm.patch);
  json.set("disable_vision_class_token", !vlm.class_token);
  json.set("pixel_shuffle", vlm.pixel_shuffle);
  if (vlm.projector == config::ProjectorKind::pooled) {
    json.set("mm_tokens_per_image", vlm.pooled_positions);
  }
  if (vlm.sees_whole_images) {
    json.set("bidirectional_image_attention", true);
  }
  if (vlm.image_tags != config::ImageTags::none) {
    write_choice("image_tag_type", kImageTags, vlm.image_tags, json);
  }
  if (vlm.tower_sizes) {
    write_all(kTowerSizes, *vlm.tower_sizes, json);
    write_choice("vision_activation", kTowerActivations, vlm.tower_sizes->activation, json);
    json.set("vision_norm_epsilon", vlm.tower_sizes->norm_epsilon);
  }
  if (vlm.projector_sizes) {
    json.set("vision_projection_ffn_hidden_size", vlm.projector_sizes->ffn_hidden_size);
  }
}

void write_attention(const ModelConfig& model, JsonObject& json) {
  write_choice("position_embedding_type", kPositionNames, model.position_embedding_type, json);
  if (!model.mrope_section.empty()) {
    json.set("position_embedding_type", "mrope");
    json.set_list("mrope_section", model.mrope_section);
  }
  if (model.rotary_seq_len_interpolation_factor) {
    json.set(kInterpolation, *model.rotary_seq_len_interpolation_factor);
  }
  if (!model.no_rope_layers.empty()) {
    json.set("no_rope_freq", list_of(model.no_rope_layers).c_str());
  }
  if (model.attention_chunk_size) {
    json.set("attention_chunk_size", *model.attention_chunk_size);
  }
  if (model.query_scale) {
    json.set("query_scale_floor", model.query_scale->floor);
    json.set("query_scale_growth", model.query_scale->growth);
  }
  if (model.multi_latent_attention || model.rope_type == RopeType::yarn) {
    write_choice("rope_type", kRopeTypes, model.rope_type, json);
    write_all(kYarnReals, model, json);
    json.set("yarn_correction_range_round_to_int", model.yarn_whole_dimensions);
  }
  if (model.position_embedding_type == PositionEmbedding::relative) {
    write_all(kRelativeIntegers, model, json);
  }
  if (model.multi_latent_attention) {
    write_latents(model, json);
  }
}

void write_limits(const ModelConfig& model, JsonObject& json) {
  const auto gated_by = [&](config::ActivationKind kind) {
    return model.gated_linear_unit && model.activation == kind;
  };
  json.set("swiglu", gated_by(config::ActivationKind::silu));
  if (gated_by(config::ActivationKind::quick_gelu)) {
    json.set("quick_geglu", true);
  }
  if (gated_by(config::ActivationKind::gelu_tanh)) {
    json.set("geglu", true);
  }
  if (model.activation_clamp) {
    json.set("activation_func_clamp_value", *model.activation_clamp);
  }
  if (model.glu_linear_offset != 0) {
    json.set("glu_linear_offset", model.glu_linear_offset);
  }
  if (model.attention_sink != config::AttentionSink::none) {
    write_choice("softmax_type", kSinkWords, model.attention_sink, json);
  }
  if (model.window_size) {
    const auto [left, right] = *model.window_size;
    json.set("window_size", fmt::format("{},{}", left, right).c_str());
  }
  if (model.window_size && !model.window_layers.empty()) {
    json.set("window_attn_skip_freq", list_of(model.window_layers).c_str());
  }
}

void write_gemma(const ModelConfig& model, JsonObject& json) {
  for (const auto& [name, member] : kGemmaFlags) {
    if (model.*member) {
      json.set(name, true);
    }
  }
  if (model.rotary_base_local) {
    json.set("rotary_base_local", *model.rotary_base_local);
  }
  write_given(kGemmaReals, model, json);
}

void write_experts(const MoeConfig& moe, JsonObject& json) {
  write_all(kExpertIntegers, moe, json);
  write_all(kExpertFlags, moe, json);
  write_given(kGroupIntegers, moe, json);
  write_given(kExpertReals, moe, json);
  if (moe.shared_expert_intermediate_size > 0) {
    json.set(kSharedExpert, moe.shared_expert_intermediate_size);
  }
  write_choice("moe_router_score_function", kScores, moe.score, json);
  if (moe.sinkhorn) {
    json.set("moe_router_load_balancing_type", "sinkhorn");
  }
  json.set("moe_layer_freq", list_of(moe.layers).c_str());
}

void write_indexer(const config::IndexerConfig& indexer, JsonObject& json) {
  write_all(kIndexerSizes, indexer, json);
  json.set("dsa_indexer_rope_interleaved", indexer.rotary_interleaved);
  json.set("dsa_indexer_rotate_activation", indexer.hadamard);
  if (indexer.norm_epsilon) {
    json.set("dsa_indexer_k_norm_epsilon", *indexer.norm_epsilon);
  }
}

/// Letters say by themselves which layers are of a kind.
void write_hybrid(const ModelConfig& model, JsonObject& json) {
  const HybridConfig& hybrid = model.hybrid;
  if (!hybrid.pattern.empty()) {
    json.set(kPattern, hybrid.pattern.c_str());
    write_all(kMambaSizes, hybrid.mamba, json);
  }
  if (!hybrid.delta_layers.empty()) {
    json.set(kVariant, kDelta);
    json.set(kFrequency, list_of(hybrid.delta_layers).c_str());
    write_all(kDeltaNetSizes, hybrid.delta_net, json);
  }
  if (model.indexer) {
    write_indexer(*model.indexer, json);
    if (hybrid.pattern.empty()) {
      json.set(kVariant, "dsa");
    }
  }
  if (model.attention_output_gate) {
    json.set(kGate, true);
  }
  if (model.moe && model.moe->shared_expert_gate) {
    json.set(kSharedGate, true);
  }
}

}  // namespace mpitron::convert
