#include "convert/name_families.h"

#include <vector>

#include <fmt/ranges.h>

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::Normalization;
using config::PositionEmbedding;
using enum Extent;
using enum Rows;

constexpr bool kTransposed = true;

constexpr Entry kGpt2[] = {
    {"embedding.word_embeddings.weight",
     padded_vocabulary,
     hidden,
     {{{"transformer.wte.weight", vocabulary}}}},
    {"embedding.position_embeddings.weight",
     positions,
     hidden,
     {{{"transformer.wpe.weight", positions}}}},
    {"decoder.layers.{}.input_layernorm.weight",
     hidden,
     none,
     {{{"transformer.h.{}.ln_1.weight", hidden}}}},
    {"decoder.layers.{}.input_layernorm.bias",
     hidden,
     none,
     {{{"transformer.h.{}.ln_1.bias", hidden}}}},
    {"decoder.layers.{}.self_attention.linear_proj.weight",
     hidden,
     queries,
     {{{"transformer.h.{}.attn.c_proj.weight", hidden}}},
     in_order,
     kTransposed},
    {"decoder.layers.{}.self_attention.linear_proj.bias",
     hidden,
     none,
     {{{"transformer.h.{}.attn.c_proj.bias", hidden}}}},
    {"decoder.layers.{}.self_attention.linear_qkv.weight",
     qkv,
     hidden,
     {{{"transformer.h.{}.attn.c_attn.weight", qkv}}},
     query_groups,
     kTransposed},
    {"decoder.layers.{}.self_attention.linear_qkv.bias",
     qkv,
     none,
     {{{"transformer.h.{}.attn.c_attn.bias", qkv}}},
     query_groups},
    {"decoder.layers.{}.pre_mlp_layernorm.weight",
     hidden,
     none,
     {{{"transformer.h.{}.ln_2.weight", hidden}}}},
    {"decoder.layers.{}.pre_mlp_layernorm.bias",
     hidden,
     none,
     {{{"transformer.h.{}.ln_2.bias", hidden}}}},
    {"decoder.layers.{}.mlp.linear_fc1.weight",
     ffn,
     hidden,
     {{{"transformer.h.{}.mlp.c_fc.weight", ffn}}},
     in_order,
     kTransposed},
    {"decoder.layers.{}.mlp.linear_fc1.bias",
     ffn,
     none,
     {{{"transformer.h.{}.mlp.c_fc.bias", ffn}}}},
    {"decoder.layers.{}.mlp.linear_fc2.weight",
     hidden,
     ffn,
     {{{"transformer.h.{}.mlp.c_proj.weight", hidden}}},
     in_order,
     kTransposed},
    {"decoder.layers.{}.mlp.linear_fc2.bias",
     hidden,
     none,
     {{{"transformer.h.{}.mlp.c_proj.bias", hidden}}}},
    {"decoder.final_layernorm.weight", hidden, none, {{{"transformer.ln_f.weight", hidden}}}},
    {"decoder.final_layernorm.bias", hidden, none, {{{"transformer.ln_f.bias", hidden}}}},
    {"output_layer.weight",
     padded_vocabulary,
     hidden,
     {{{"lm_head.weight", vocabulary}}},
     in_order,
     !kTransposed,
     When::untied},
};

/// Llama, and the families that took its names.
constexpr Entry kLlama[] = {
    {"embedding.word_embeddings.weight",
     padded_vocabulary,
     hidden,
     {{{"model.embed_tokens.weight", vocabulary}}}},
    {"decoder.layers.{}.input_layernorm.weight",
     hidden,
     none,
     {{{"model.layers.{}.input_layernorm.weight", hidden}}}},
    {"decoder.layers.{}.self_attention.linear_proj.weight",
     hidden,
     queries,
     {{{"model.layers.{}.self_attn.o_proj.weight", hidden}}}},
    {"decoder.layers.{}.self_attention.linear_proj.bias",
     hidden,
     none,
     {{{"model.layers.{}.self_attn.o_proj.bias", hidden}}},
     in_order,
     !kTransposed,
     When::linear_bias},
    {"decoder.layers.{}.self_attention.linear_qkv.weight",
     qkv,
     hidden,
     {{{"model.layers.{}.self_attn.q_proj.weight", queries},
       {"model.layers.{}.self_attn.k_proj.weight", keys},
       {"model.layers.{}.self_attn.v_proj.weight", keys}}},
     query_groups},
    {"decoder.layers.{}.self_attention.linear_qkv.bias",
     qkv,
     none,
     {{{"model.layers.{}.self_attn.q_proj.bias", queries},
       {"model.layers.{}.self_attn.k_proj.bias", keys},
       {"model.layers.{}.self_attn.v_proj.bias", keys}}},
     query_groups,
     !kTransposed,
     When::qkv_bias},
    {"decoder.layers.{}.pre_mlp_layernorm.weight",
     hidden,
     none,
     {{{"model.layers.{}.post_attention_layernorm.weight", hidden}}}},
    {"decoder.layers.{}.mlp.linear_fc1.weight",
     fc1,
     hidden,
     {{{"model.layers.{}.mlp.gate_proj.weight", ffn},
       {"model.layers.{}.mlp.up_proj.weight", ffn}}}},
    {"decoder.layers.{}.mlp.linear_fc1.bias",
     fc1,
     none,
     {{{"model.layers.{}.mlp.gate_proj.bias", ffn}, {"model.layers.{}.mlp.up_proj.bias", ffn}}},
     in_order,
     !kTransposed,
     When::linear_bias},
    {"decoder.layers.{}.mlp.linear_fc2.weight",
     hidden,
     ffn,
     {{{"model.layers.{}.mlp.down_proj.weight", hidden}}}},
    {"decoder.layers.{}.mlp.linear_fc2.bias",
     hidden,
     none,
     {{{"model.layers.{}.mlp.down_proj.bias", hidden}}},
     in_order,
     !kTransposed,
     When::linear_bias},
    {"decoder.final_layernorm.weight", hidden, none, {{{"model.norm.weight", hidden}}}},
    {"output_layer.weight",
     padded_vocabulary,
     hidden,
     {{{"lm_head.weight", vocabulary}}},
     in_order,
     !kTransposed,
     When::untied},
};

constexpr Family kFamilies[] = {
    {"gpt2", kGpt2, "transformer.wte.weight", "transformer.", true, true},
    {"llama", kLlama, "model.embed_tokens.weight", "", false, false},
    {"mistral", kLlama, "model.embed_tokens.weight", "", false, false},
    {"qwen2", kLlama, "model.embed_tokens.weight", "", false, true},
};

}  // namespace

std::span<const Family> families() {
  return kFamilies;
}

std::string obstacle(const Family& family, const ModelConfig& m) {
  const bool gelu =
      m.activation == ActivationKind::gelu_tanh || m.activation == ActivationKind::gelu_erf;
  const std::pair<bool, const char*> common[] = {
      {!m.qk_layernorm && !m.qk_l2_norm, "no --qk-layernorm"},
      {!m.apply_layernorm_1p, "no --apply-layernorm-1p"},
      {!m.moe && !m.multi_latent_attention && !m.mtp_num_layers, "a dense decoder"},
  };
  const std::pair<bool, const char*> gpt2[] = {
      {m.position_embedding_type == PositionEmbedding::learned_absolute,
       "--position-embedding-type learned_absolute"},
      {m.normalization == Normalization::layer_norm, "--normalization LayerNorm"},
      {gelu && !m.gated_linear_unit, "a GELU"},
      {m.add_bias_linear, "biases in all linear layers"},
      {m.num_query_groups == m.num_attention_heads, "no --group-query-attention"},
      {m.kv_channels * m.num_attention_heads == m.hidden_size, "kv_channels = hidden / heads"},
  };
  const bool linear_bias_fits = !m.add_bias_linear || family.model_type == "llama";
  const std::pair<bool, const char*> llama[] = {
      {m.position_embedding_type == PositionEmbedding::rope, "--position-embedding-type rope"},
      {m.rotary_percent == 1, "--rotary-percent 1"},
      {m.normalization == Normalization::rms_norm, "--normalization RMSNorm"},
      {m.gated_linear_unit && m.activation == ActivationKind::silu, "--swiglu"},
      {linear_bias_fits, "--disable-bias-linear"},
      {m.add_bias_linear || m.add_qkv_bias == family.qkv_bias,
       family.qkv_bias ? "--add-qkv-bias" : "no --add-qkv-bias"},
  };
  std::vector<std::string> missing;
  const auto collect = [&](const auto& needs) {
    for (const auto& [met, what] : needs) {
      if (!met) {
        missing.emplace_back(what);
      }
    }
  };
  collect(common);
  family.gpt2 ? collect(gpt2) : collect(llama);
  return fmt::format("{}", fmt::join(missing, ", "));
}

}  // namespace mpitron::convert
