#include <cmath>

#include "convert/description/config_reading.h"
#include "convert/names/family_needs.h"

// Needs of families from 2024 on: layers with and without windows or rotary positions, norms around
// branches and of heads, gates, shared experts.

namespace mpitron::convert {

using config::ActivationKind;
using config::ModelConfig;
using config::ModelKind;
using config::MoeConfig;
using config::Normalization;
using config::PositionEmbedding;
using config::RouterScore;

Needs gpt_oss(const ModelConfig& m) {
  Needs needs = in_any_family(m, ModelKind::gpt);
  append(needs, rotating_layers(m));
  append(needs, norms_in_front(m));
  append(needs, classic_layers(m));
  append(needs, whole_heads(m));
  append(needs,
         {{m.position_embedding_type == PositionEmbedding::rope, "--position-embedding-type rope"},
          {!m.use_rope_scaling && !m.rotary_seq_len_interpolation_factor, "YaRN alone"},
          {m.mscale == 1 && m.mscale_all_dim == 0, "no --mscale and no --mscale-all-dim"},
          {m.normalization == Normalization::rms_norm, "--normalization RMSNorm"},
          {!m.multi_latent_attention, "no --multi-latent-attention"},
          {!m.qk_layernorm, "no --qk-layernorm"},
          {m.add_bias_linear, "biases in all linear layers"},
          {m.attention_sink == config::AttentionSink::learned, "--softmax-type learnable"},
          {!m.window_size || (*m.window_size)[1] == 0, "a --window-size that ends in ,0"},
          {m.gated_linear_unit && m.activation == ActivationKind::quick_gelu &&
               m.activation_clamp == kGptOssClamp && m.glu_linear_offset == kGptOssOffset,
           "--quick-geglu --activation-func-clamp-value 7 --glu-linear-offset 1"}});
  append(needs, experts_everywhere(m, false));
  return needs;
}

namespace {

/// Needs of Gemma 2 and 3: norms around branches, MLPs gated by a GELU, windows in some layers.
Needs gemma(const ModelConfig& m, ModelKind kind = ModelKind::gpt) {
  Needs needs = in_any_family(m, kind);
  append(needs, rotating_layers(m));
  append(needs, whole_heads(m));
  append(needs,
         {{m.position_embedding_type == PositionEmbedding::rope, "--position-embedding-type rope"},
          {m.rope_type == config::RopeType::rope && !m.rotary_interleaved, "--rope-type rope"},
          {m.normalization == Normalization::rms_norm, "--normalization RMSNorm"},
          {m.apply_layernorm_1p, "--apply-layernorm-1p"},
          {m.post_self_attn_layernorm && m.post_mlp_layernorm,
           "--post-self-attn-layernorm --post-mlp-layernorm"},
          {m.gated_linear_unit && m.activation == ActivationKind::gelu_tanh, "--geglu"},
          {!m.activation_clamp && m.glu_linear_offset == 0, "no limits of gated activations"},
          {m.scale_embeddings, "--scale-embeddings"},
          {std::floor(m.query_pre_attn_scalar.value_or(1)) == m.query_pre_attn_scalar.value_or(1),
           "a whole --query-pre-attn-scalar"},
          {!m.add_bias_linear && !m.add_qkv_bias, "--disable-bias-linear"},
          {!m.moe, "no --num-experts"},
          {!m.multi_latent_attention, "no --multi-latent-attention"},
          {m.hybrid.delta_layers.empty(), "no --experimental-attention-variant"},
          {!m.attention_output_gate, "no --attention-output-gate"},
          {m.attention_sink == config::AttentionSink::none, "--softmax-type vanilla"},
          {m.window_size && (*m.window_size)[1] == 0, "a --window-size that ends in ,0"}});
  return needs;
}

}  // namespace

Needs gemma2(const ModelConfig& m) {
  Needs needs = gemma(m);
  append(needs, {{!m.qk_layernorm, "no --qk-layernorm"},
                 {!m.rotary_base_local, "no --rotary-base-local"}});
  return needs;
}

namespace {

Needs gemma3_language(const ModelConfig& m, ModelKind kind) {
  Needs needs = gemma(m, kind);
  append(needs, {{m.qk_layernorm, "--qk-layernorm"},
                 {m.rotary_base_local.has_value(), "--rotary-base-local"}});
  return needs;
}

}  // namespace

Needs gemma3(const ModelConfig& m) {
  return gemma3_language(m, ModelKind::gpt);
}

Needs gemma3_images(const ModelConfig& m) {
  Needs needs = gemma3_language(m, ModelKind::vlm);
  if (!m.vlm) {
    return needs;
  }
  const config::VlmConfig& vlm = *m.vlm;
  append(needs,
         {{vlm.tower == config::TowerKind::siglip, "--vision-model-type siglip"},
          {vlm.tower_sizes.has_value(), "--vision-hidden-size"},
          {vlm.projector == config::ProjectorKind::pooled, "--vision-projection-type pooled"},
          {vlm.sees_whole_images, "--bidirectional-image-attention"},
          {vlm.most_tiles() == 1 && !vlm.tiling.tags, "no --use-tiling"},
          {vlm.image_tags == config::ImageTags::gemma3, "--image-tag-type gemma3"}});
  return needs;
}

namespace {

Needs llama4_language(const ModelConfig& m, ModelKind kind) {
  Needs needs = in_any_family(m, kind);
  append(needs, norms_in_front(m));
  append(needs, classic_layers(m));
  append(needs, unlimited(m));
  append(needs, modern(m));
  append(needs, whole_heads(m));
  append(needs, {{m.rope_type == config::RopeType::rope, "--rope-type rope"},
                 {m.rotary_interleaved, "--rotary-interleaved"},
                 {!m.multi_latent_attention, "no --multi-latent-attention"},
                 {!m.qk_layernorm, "no --qk-layernorm"},
                 {!m.qk_l2_norm || m.qk_l2_norm_with_rope_only || m.no_rope_layers.empty(),
                  "--qk-l2-norm-with-rope-only"},
                 {!m.add_bias_linear && !m.add_qkv_bias, "--disable-bias-linear"}});
  if (!m.moe) {
    append(needs, {{false, "--num-experts"}});
    return needs;
  }
  const MoeConfig& moe = *m.moe;
  append(needs,
         {{moe.score == RouterScore::sigmoid, "--moe-router-score-function sigmoid"},
          {moe.topk == 1, "--moe-router-topk 1"},
          {moe.apply_probs_on_input, "--moe-apply-probs-on-input"},
          {moe.shared_expert_intermediate_size == moe.ffn_hidden_size,
           "--moe-shared-expert-intermediate-size as wide as an expert"},
          {!moe.sinkhorn && !moe.expert_bias, "a router without sinkhorn and expert bias"},
          {!moe.capacity_factor, "no --moe-expert-capacity-factor"},
          {moe.num_groups.value_or(1) == 1, "no --moe-router-num-groups"},
          {moe.topk_scaling_factor.value_or(1) == 1, "no --moe-router-topk-scaling-factor"}});
  return needs;
}

}  // namespace

Needs llama4(const ModelConfig& m) {
  return llama4_language(m, ModelKind::gpt);
}

Needs llama4_images(const ModelConfig& m) {
  Needs needs = llama4_language(m, ModelKind::vlm);
  if (!m.vlm) {
    return needs;
  }
  const config::VlmConfig& vlm = *m.vlm;
  const auto& sizes = vlm.tower_sizes;
  append(needs, {{vlm.tower == config::TowerKind::llama4, "--vision-model-type llama4"},
                 {sizes && sizes->heads * sizes->head_size == sizes->hidden_size &&
                      sizes->ffn_hidden_size == 4 * sizes->hidden_size &&
                      sizes->activation == ActivationKind::gelu_erf && sizes->norm_epsilon == 1e-5,
                  "--vision-hidden-size and four times it within, --vision-activation gelu, "
                  "--vision-norm-epsilon 1e-5"},
                 {vlm.projector == config::ProjectorKind::adapter && vlm.projector_sizes,
                  "--vision-projection-type adapter --vision-projection-ffn-hidden-size"},
                 {vlm.pixel_shuffle, "--pixel-shuffle"},
                 {!vlm.sees_whole_images, "no --bidirectional-image-attention"},
                 {vlm.image_tags == config::ImageTags::llama4, "--image-tag-type llama4"}});
  return needs;
}

Needs qwen3_next(const ModelConfig& m) {
  Needs needs = in_any_family(m, ModelKind::gpt);
  append(needs, rotating_layers(m));
  append(needs, norms_in_front(m));
  append(needs, unlimited(m));
  append(needs, modern(m));
  append(needs,
         {{m.apply_layernorm_1p, "--apply-layernorm-1p"},
          {m.rope_type == config::RopeType::rope && !m.rotary_interleaved, "--rope-type rope"},
          {!m.multi_latent_attention, "no --multi-latent-attention"},
          {m.qk_layernorm, "--qk-layernorm"},
          {m.attention_output_gate, "--attention-output-gate"},
          {!m.hybrid.delta_layers.empty(), "--experimental-attention-variant gated_delta_net"},
          {!m.add_bias_linear && !m.add_qkv_bias, "--disable-bias-linear"}});
  append(needs, experts_everywhere(m, true));
  return needs;
}

}  // namespace mpitron::convert
