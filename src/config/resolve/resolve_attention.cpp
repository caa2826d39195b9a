#include <cmath>

#include "config/layer_pattern.h"
#include "config/resolve/resolve.h"

// Attention and positions of a model from its flags.

namespace mpitron::config {
namespace {

/// Marks layers without rotation: a number N marks every N-th layer, a list says it for each.
std::vector<bool> no_rope_layers(const OptionValues& v, Index layers) {
  const std::optional<std::string> text = v.maybe_text("no_rope_freq");
  std::vector<bool> skip;
  if (!text) {
    return skip;
  }
  const Frequency frequency = parse_list_expression(*text);
  for (const Index entry : frequency.entries) {
    skip.push_back(entry != 0);
  }
  for (Index layer = 1; !frequency.is_list && frequency.number > 0 && layer <= layers; ++layer) {
    skip.push_back(layer % frequency.number == 0);
  }
  return skip;
}

/// Leaves sizes that are not given at 0, which a rule tells.
std::optional<IndexerConfig> indexer(const OptionValues& v) {
  if (!has_sparse_attention(v)) {
    return {};
  }
  return IndexerConfig{.heads = v.maybe_integer("dsa_indexer_n_heads").value_or(0),
                       .head_dim = v.maybe_integer("dsa_indexer_head_dim").value_or(0),
                       .topk = v.maybe_integer("dsa_indexer_topk").value_or(0),
                       .loss_coefficient = v.maybe_real("dsa_indexer_loss_coeff").value_or(0),
                       .sparse_loss = v.flag("dsa_indexer_use_sparse_loss"),
                       .rotary_interleaved = v.flag("dsa_indexer_rope_interleaved"),
                       .hadamard = v.flag("dsa_indexer_rotate_activation"),
                       .norm_epsilon = v.maybe_real("dsa_indexer_k_norm_epsilon")};
}

}  // namespace

void resolve_latent_attention(ModelConfig& m, const OptionValues& v) {
  m.multi_latent_attention = v.flag("multi_latent_attention");
  m.q_lora_rank = v.maybe_integer("q_lora_rank");
  m.kv_lora_rank = v.integer("kv_lora_rank");
  m.qk_head_dim = v.integer("qk_head_dim");
  m.qk_pos_emb_head_dim = v.integer("qk_pos_emb_head_dim");
  m.v_head_dim = v.integer("v_head_dim");
  m.indexer = indexer(v);
}

void resolve_attention(ModelConfig& m, const OptionValues& v) {
  using enum AttentionBackend;
  m.attention_backend = pick<AttentionBackend>(v.text("attention_backend"), {{"auto", automatic},
                                                                             {"flash", flash},
                                                                             {"fused", fused},
                                                                             {"unfused", unfused},
                                                                             {"local", local}});
  m.softmax_scale = m.kv_channels > 0 ? 1 / std::sqrt(static_cast<double>(m.kv_channels)) : 0;
  m.apply_query_key_layer_scaling = v.flag("apply_query_key_layer_scaling");
  m.attention_softmax_in_fp32 = v.flag("attention_softmax_in_fp32");
  m.qk_layernorm = v.flag("qk_layernorm");
  m.qk_l2_norm = v.flag("qk_l2_norm");
  m.reset_attention_mask = v.flag("reset_attention_mask") || v.flag("sft_packing") ||
                           v.flag("dpo") || v.flag("dataloader_inter_document_masking");
}

void resolve_positions(ModelConfig& m, const OptionValues& v) {
  using enum PositionEmbedding;
  m.position_embedding_type = pick<PositionEmbedding>(v.text("position_embedding_type"),
                                                      {{"learned_absolute", learned_absolute},
                                                       {"rope", rope},
                                                       {"mrope", rope},
                                                       {"relative", relative},
                                                       {"none", none}});
  m.rope_type =
      pick<RopeType>(v.text("rope_type"), {{"rope", RopeType::rope}, {"yarn", RopeType::yarn}});
  if (v.text("position_embedding_type") == "mrope") {
    m.mrope_section = v.integers("mrope_section");
  }
  m.rotary_base = v.integer("rotary_base");
  m.rotary_percent = v.real("rotary_percent");
  m.rotary_interleaved = v.flag("rotary_interleaved");
  m.rotary_seq_len_interpolation_factor = v.maybe_integer("rotary_seq_len_interpolation_factor");
  m.use_rope_scaling = v.flag("use_rope_scaling");
  m.rope_scaling_factor = v.real("rope_scaling_factor");
  m.rotary_scaling_factor = v.real("rotary_scaling_factor");
  m.mscale = v.real("mscale");
  m.mscale_all_dim = v.real("mscale_all_dim");
  m.yarn_whole_dimensions = v.flag("yarn_correction_range_round_to_int");
  m.no_rope_layers = no_rope_layers(v, m.num_layers);
  m.relative_attention_num_buckets = v.integer("relative_attention_num_buckets");
  m.relative_attention_max_distance = v.integer("relative_attention_max_distance");
}

}  // namespace mpitron::config
