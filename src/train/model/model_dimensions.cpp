#include "train/model/model_dimensions.h"

namespace mpitron::train {

double latent_attention_parameters(const ModelDimensions& model) {
  const auto h = static_cast<double>(model.hidden_size);
  const auto n = static_cast<double>(model.num_attention_heads);
  const LatentAttentionDimensions& mla = *model.latent_attention;
  const auto dq = static_cast<double>(mla.qk_head_dim);
  const auto dr = static_cast<double>(mla.qk_pos_emb_head_dim);
  const auto dv = static_cast<double>(mla.v_head_dim);
  const auto rkv = static_cast<double>(mla.kv_lora_rank);
  const auto rq = static_cast<double>(mla.q_lora_rank.value_or(0));
  const double query = mla.q_lora_rank ? rq * (h + n * (dq + dr) + 1) : h * n * (dq + dr);
  return query + rkv * (h + n * (dq + dv) + 1) + h * dr + n * dv * h;
}

namespace {

ExpertDimensions expert_dimensions(const config::MoeConfig& moe) {
  return {.num_experts = moe.num_experts,
          .num_moe_layers = moe.count_layers(),
          .last_layer_is_moe = !moe.layers.empty() && moe.layers.back(),
          .moe_router_topk = moe.topk,
          .moe_ffn_hidden_size = moe.ffn_hidden_size,
          .moe_shared_expert_intermediate_size = moe.shared_expert_intermediate_size};
}

}  // namespace

ModelDimensions model_dimensions(const config::ModelConfig& config) {
  ModelDimensions dimensions{
      .num_layers = config.num_layers,
      .hidden_size = config.hidden_size,
      .num_attention_heads = config.num_attention_heads,
      .num_query_groups = config.num_query_groups,
      .kv_channels = config.kv_channels,
      .ffn_hidden_size = config.ffn_hidden_size,
      .seq_length = config.seq_length,
      .padded_vocab_size = config.padded_vocab_size,
      .swiglu = config.gated_linear_unit,
      .untie_embeddings_and_output_weights = config.untie_embeddings_and_output_weights,
      .mtp_num_layers = config.mtp_num_layers.value_or(0),
      .experts = config.moe ? std::optional(expert_dimensions(*config.moe)) : std::nullopt};
  if (config.multi_latent_attention) {
    dimensions.latent_attention =
        LatentAttentionDimensions{.q_lora_rank = config.q_lora_rank,
                                  .kv_lora_rank = config.kv_lora_rank,
                                  .qk_head_dim = config.qk_head_dim,
                                  .qk_pos_emb_head_dim = config.qk_pos_emb_head_dim,
                                  .v_head_dim = config.v_head_dim};
  }
  return dimensions;
}

}  // namespace mpitron::train
