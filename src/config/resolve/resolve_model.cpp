#include "config/layer_pattern.h"
#include "config/resolve/resolve.h"

// Options on the model as a ModelConfig, part by part in the order of its bases.

namespace mpitron::config {
namespace {

/// Takes the first in this order where several are given, which a rule refuses.
ActivationKind activation(const OptionValues& v) {
  if (v.flag("swiglu")) {
    return ActivationKind::silu;
  }
  if (v.flag("geglu")) {
    return ActivationKind::gelu_tanh;
  }
  if (v.flag("quick_geglu")) {
    return ActivationKind::quick_gelu;
  }
  if (v.flag("squared_relu")) {
    return ActivationKind::squared_relu;
  }
  return v.flag("openai_gelu") || v.flag("bias_gelu_fusion") ? ActivationKind::gelu_tanh
                                                             : ActivationKind::gelu_erf;
}

/// Reads the words of --recompute-modules; a rule refuses unknown ones.
std::vector<RecomputeModule> recompute_modules(const OptionValues& v) {
  using enum RecomputeModule;
  std::vector<RecomputeModule> out;
  const Names<RecomputeModule> names = {
      {"core_attn", core_attn},          {"moe_act", moe_act}, {"layernorm", layernorm},
      {"mla_up_proj", mla_up_proj},      {"mlp", mlp},         {"moe", moe},
      {"shared_experts", shared_experts}};
  for (const std::string& word : v.words("recompute_modules")) {
    for (const auto& [name, module] : names) {
      if (word == name) {
        out.push_back(module);
      }
    }
  }
  return out;
}

/// Sets the family and the sizes of all layers.
void resolve_size(ModelConfig& m, const OptionValues& v) {
  m.kind = family_of(v.text("model")).kind;
  m.decoder_seq_length = v.maybe_integer("decoder_seq_length").value_or(0);
  m.bert_binary_head = v.flag("bert_binary_head");
  m.num_layers = v.maybe_integer("num_layers").value_or(0);
  m.hidden_size = v.maybe_integer("hidden_size").value_or(0);
  m.ffn_hidden_size = v.maybe_integer("ffn_hidden_size").value_or(0);
  m.num_attention_heads = v.maybe_integer("num_attention_heads").value_or(0);
  m.kv_channels = v.maybe_integer("kv_channels").value_or(0);
  m.num_query_groups = v.integer("num_query_groups");
  m.group_query_attention = v.flag("group_query_attention");
  m.seq_length = v.maybe_integer("seq_length").value_or(0);
  m.max_position_embeddings = v.maybe_integer("max_position_embeddings").value_or(0);
  m.padded_vocab_size = v.maybe_integer("padded_vocab_size").value_or(0);
  m.make_vocab_size_divisible_by = v.integer("make_vocab_size_divisible_by");
  m.untie_embeddings_and_output_weights = v.flag("untie_embeddings_and_output_weights");
  m.add_bias_linear = v.flag("add_bias_linear");
  m.add_qkv_bias = v.flag("add_qkv_bias");
  m.mtp_num_layers = v.maybe_integer("mtp_num_layers");
  m.mtp_loss_scaling_factor = v.real("mtp_loss_scaling_factor");
}

/// Sets norms, activations, dropout and initial weights.
void resolve_layers(ModelConfig& m, const OptionValues& v) {
  m.normalization = pick<Normalization>(
      v.text("normalization"),
      {{"LayerNorm", Normalization::layer_norm}, {"RMSNorm", Normalization::rms_norm}});
  m.norm_epsilon = v.real("norm_epsilon");
  m.apply_layernorm_1p = v.flag("apply_layernorm_1p");
  m.apply_residual_connection_post_layernorm = v.flag("apply_residual_connection_post_layernorm");
  m.activation = activation(v);
  m.gated_linear_unit = v.flag("swiglu") || v.flag("geglu") || v.flag("quick_geglu");
  m.attention_dropout = v.real("attention_dropout");
  m.hidden_dropout = v.real("hidden_dropout");
  m.seed = v.integer("seed");
  m.init_method_std = v.real("init_method_std");
  m.embedding_init_method_std = v.maybe_real("embedding_init_method_std");
  m.init_method_xavier_uniform = v.flag("init_method_xavier_uniform");
  m.perform_initialization = v.flag("perform_initialization");
  m.use_cpu_initialization = v.flag("use_cpu_initialization");
}

/// Returns nothing without --fp8-format; first and last layers may stay in bf16.
std::optional<Fp8Config> resolve_fp8(const OptionValues& v) {
  const std::optional<std::string> format = v.maybe_text("fp8");
  if (!format) {
    return {};
  }
  const bool ends_in_bf16 = v.flag("first_last_layers_bf16");
  return Fp8Config{
      .recipe = pick<Fp8Recipe>(v.text("fp8_recipe"), {{"tensorwise", Fp8Recipe::tensorwise},
                                                       {"delayed", Fp8Recipe::delayed},
                                                       {"blockwise", Fp8Recipe::blockwise},
                                                       {"mxfp8", Fp8Recipe::mxfp8}}),
      .hybrid = *format == "hybrid",
      .weight_gradient = v.flag("fp8_wgrad"),
      .margin = v.integer("fp8_margin"),
      .amax_history = v.integer("fp8_amax_history_len"),
      .largest_of_history = v.text("fp8_amax_compute_algo") == "max",
      .first_bf16_layers = ends_in_bf16 ? v.integer("num_layers_at_start_in_bf16") : 0,
      .last_bf16_layers = ends_in_bf16 ? v.integer("num_layers_at_end_in_bf16") : 0};
}

/// Sets types and recomputation.
void resolve_precision(ModelConfig& m, const OptionValues& v) {
  using Granularity = RecomputeGranularity;
  m.params_dtype = params_dtype(v);
  m.fp8 = resolve_fp8(v);
  m.fp32_residual_connection = v.flag("fp32_residual_connection");
  m.fp16_lm_cross_entropy = v.flag("fp16_lm_cross_entropy");
  m.cross_entropy_loss_fusion = v.flag("cross_entropy_loss_fusion");
  m.gradient_accumulation_fusion = v.flag("gradient_accumulation_fusion");
  m.recompute_granularity = pick<Granularity>(v.maybe_text("recompute_granularity").value_or(""),
                                              {{"", Granularity::none},
                                               {"full", Granularity::full},
                                               {"selective", Granularity::selective}});
  m.recompute_method = pick<RecomputeMethod>(v.maybe_text("recompute_method").value_or(""),
                                             {{"", RecomputeMethod::none},
                                              {"uniform", RecomputeMethod::uniform},
                                              {"block", RecomputeMethod::block}});
  m.recompute_num_layers = v.maybe_integer("recompute_num_layers").value_or(0);
  m.recompute_modules = recompute_modules(v);
  m.distribute_saved_activations = v.flag("distribute_saved_activations");
  m.tp_comm_overlap = v.flag("tp_comm_overlap");
}

}  // namespace

/// Resolves parts in the order in which later ones read earlier fields.
ModelConfig resolve_model(const OptionValues& v) {
  ModelConfig m;
  resolve_size(m, v);
  resolve_attention(m, v);
  resolve_latent_attention(m, v);
  resolve_positions(m, v);
  resolve_layers(m, v);
  resolve_precision(m, v);
  m.moe = resolve_moe(v);
  m.hybrid = resolve_hybrid(v);
  m.vision = resolve_vision(v);
  m.vlm = resolve_vlm(v);
  m.reset_attention_mask = m.reset_attention_mask || (m.vlm && m.vlm->packing_window > 0);
  m.drop_path = v.maybe_real("drop_path_rate").value_or(0);
  if (m.moe && !m.hybrid.pattern.empty()) {
    m.moe->layers.clear();
    for (const LayerSpec& layer : layer_pattern(m)) {
      m.moe->layers.push_back(layer.feed_forward == FeedForwardKind::experts);
    }
  }
  resolve_later_releases(m, v);
  return m;
}

}  // namespace mpitron::config
