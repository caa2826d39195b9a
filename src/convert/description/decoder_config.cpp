#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "convert/description/config_reading.h"

// The config.json of decoders, field by field. Settings that this program cannot compute are
// collected and refused together: one that was passed over would change the model.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::MoeConfig;
using config::Normalization;
using config::PositionEmbedding;
using config::RopeType;

/// Llama 3.1's rotary scaling as this program has it; the factor is free.
constexpr double kLlama3Low = 1;
constexpr Index kLlama3Context = 8192;
/// Numbers of YaRN that this program has; the factor and the scales are free.
constexpr Index kYarnFast = 32, kYarnSlow = 1, kYarnContext = 4096;

/// Names of the fields that all models have, in the two vocabularies of Hugging Face.
constexpr SizeNames kGpt2Sizes{"n_layer",
                               "n_embd",
                               "n_inner",
                               "n_head",
                               "n_positions",
                               "layer_norm_epsilon",
                               "activation_function"};
constexpr SizeNames kLlamaSizes{
    "num_hidden_layers",       "hidden_size",  "intermediate_size", "num_attention_heads",
    "max_position_embeddings", "rms_norm_eps", "hidden_act"};

/// Shortens the longest sequence to a sliding window: up to its width all keys are visible, and
/// full attention computes the same.
void read_window(ConfigReading& reading) {
  const std::string& type = reading.result.model_type;
  const bool used = type == "mistral" || type == "mixtral" ||
                    (type == "qwen2" && reading.json.flag("use_sliding_window", false));
  if (used && reading.json.has("sliding_window")) {
    Index& positions = reading.result.model.max_position_embeddings;
    positions = std::min(positions, reading.json.size("sliding_window"));
  }
}

/// Returns the object on rotary positions, which newer files call rope_parameters.
JsonObject rope_of(const JsonObject& json) {
  return json.object(json.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
}

/// Returns the kind of scaling, which older files call `type`.
std::string kind_of(const JsonObject& rope) {
  return rope.text("rope_type", rope.text("type", "default"));
}

/// Reads the base of frequencies, beside or inside of the rotary object; --rotary-base is a whole
/// number.
void read_base(const JsonObject& rope, ConfigReading& reading) {
  const double theta = rope.real("rope_theta", reading.json.real("rope_theta", 10000));
  reading.require(theta >= 1 && theta < 1e15 && theta == std::floor(theta),
                  fmt::format("rope_theta {}: only whole numbers", theta));
  reading.result.model.rotary_base = static_cast<Index>(std::clamp(theta, 1.0, 1e15));
}

/// Writes the longest sequence unless a window shortened it, whose file keeps its original length.
void write_positions(const ModelConfig& m, JsonObject& json) {
  if (json.real("sliding_window", 0) != static_cast<double>(m.max_position_embeddings)) {
    json.set(kLlamaSizes.positions, m.max_position_embeddings);
  }
}

}  // namespace

/// Reads what Llama and its descendants share: RMSNorm, rotary positions, a gated SiLU.
void read_modern(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  read_sizes(kLlamaSizes, reading);
  m.position_embedding_type = PositionEmbedding::rope;
  m.normalization = Normalization::rms_norm;
  m.gated_linear_unit = true;
  m.untie_embeddings_and_output_weights = !reading.json.flag("tie_word_embeddings", false);
  m.hidden_dropout = 0;
  m.attention_dropout = reading.json.real("attention_dropout", 0);
  reading.require(m.activation == ActivationKind::silu,
                  "a gated MLP with another function than silu");
  m.rotary_percent = reading.json.real("partial_rotary_factor", 1);
  m.rotary_percent = rope_of(reading.json).real("partial_rotary_factor", m.rotary_percent);
}

void read_whole_heads(ConfigReading& reading) {
  read_modern(reading);
  reading.require(reading.result.model.rotary_percent == 1, "partial_rotary_factor");
}

/// Reads plain frequencies, Llama 3.1's scaling with its own bounds, or whole linear factors.
void read_rotary(ConfigReading& reading) {
  read_rotary(rope_of(reading.json), reading);
}

/// Reads Llama 3.1's scaling, of which the reference takes two of four numbers.
void read_llama3(const JsonObject& rope, double factor, ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  m.use_rope_scaling = true;
  m.rope_scaling_factor = factor;
  m.rope_scaling_high_freq_factor = rope.real("high_freq_factor", 0);
  reading.require(rope.real("low_freq_factor", 0) == kLlama3Low &&
                      m.rope_scaling_high_freq_factor >= kLlama3Low &&
                      rope.real("original_max_position_embeddings", 0) == kLlama3Context,
                  "llama3 rotary scaling with a low_freq_factor that is not 1, a lower "
                  "high_freq_factor or other original positions than 8192");
}

void read_rotary(const JsonObject& rope, ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const std::string kind = kind_of(rope);
  const double factor = rope.real("factor", 1);
  read_base(rope, reading);
  if (kind == "llama3") {
    read_llama3(rope, factor, reading);
  } else if (kind == "linear") {
    reading.require(factor >= 1 && factor < 1e9 && factor == std::floor(factor),
                    "linear rotary scaling by a fraction");
    m.rotary_seq_len_interpolation_factor = static_cast<Index>(std::clamp(factor, 1.0, 1e9));
  } else {
    reading.require(kind == "default", fmt::format("rotary scaling {}", kind));
  }
}

/// Writes the older spelling, rope_theta and rope_scaling, which newer transformers read, too.
void write_rotary(const ModelConfig& m, JsonObject& json) {
  json.erase("rope_parameters");
  json.set("rope_theta", static_cast<double>(m.rotary_base));
  JsonObject scaling;
  if (m.use_rope_scaling) {
    scaling.set("rope_type", "llama3");
    scaling.set("factor", m.rope_scaling_factor);
    scaling.set("low_freq_factor", kLlama3Low);
    scaling.set("high_freq_factor", m.rope_scaling_high_freq_factor);
    scaling.set("original_max_position_embeddings", kLlama3Context);
  } else if (m.rotary_seq_len_interpolation_factor) {
    scaling.set("rope_type", "linear");
    scaling.set("factor", *m.rotary_seq_len_interpolation_factor);
  } else {
    json.set_null("rope_scaling");
    return;
  }
  json.set("rope_scaling", scaling);
}

/// Reads YaRN, or plain frequencies in its place. An attention_factor would replace the mscales,
/// and is refused.
void read_yarn(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject rope = rope_of(reading.json);
  const std::string kind = kind_of(rope);
  read_base(rope, reading);
  m.rope_type = kind == "yarn" ? RopeType::yarn : RopeType::rope;
  if (kind != "yarn") {
    reading.require(kind == "default", fmt::format("rotary scaling {}", kind));
    return;
  }
  m.rotary_scaling_factor = rope.real("factor", 1);
  m.mscale = rope.real("mscale", 1);
  m.mscale_all_dim = rope.real("mscale_all_dim", 0);
  reading.require(rope.size("beta_fast", kYarnFast) == kYarnFast &&
                      rope.size("beta_slow", kYarnSlow) == kYarnSlow &&
                      rope.real("original_max_position_embeddings", 0) == kYarnContext,
                  "YaRN with other numbers than 32, 1 and 4096");
  reading.require(!rope.has("attention_factor"), "attention_factor of YaRN");
  m.yarn_whole_dimensions = rope.flag("truncate", true);
}

/// Keeps what the file had in its rotary object beside the numbers that are written.
void write_yarn(const ModelConfig& m, JsonObject& json) {
  json.set("rope_theta", static_cast<double>(m.rotary_base));
  if (m.rope_type != RopeType::yarn) {
    json.erase("rope_parameters");
    json.set_null("rope_scaling");
    return;
  }
  JsonObject rope = rope_of(json);
  json.erase("rope_parameters");
  if (!rope.has("rope_type")) {
    rope.set("type", "yarn");
  }
  rope.set("factor", m.rotary_scaling_factor);
  rope.set("original_max_position_embeddings", kYarnContext);
  rope.set("beta_fast", kYarnFast);
  rope.set("beta_slow", kYarnSlow);
  if (m.multi_latent_attention) {
    rope.set("mscale", m.mscale);
    rope.set("mscale_all_dim", m.mscale_all_dim);
  }
  if (!m.yarn_whole_dimensions) {
    rope.set("truncate", false);
  }
  json.set("rope_scaling", rope);
}

/// Refuses the variants of attention that GPT2Attention knows and this program has not.
void read_gpt2(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  read_sizes(kGpt2Sizes, reading);
  m.position_embedding_type = PositionEmbedding::learned_absolute;
  m.normalization = Normalization::layer_norm;
  m.untie_embeddings_and_output_weights = !json.flag("tie_word_embeddings", true);
  m.hidden_dropout = json.real("resid_pdrop", m.hidden_dropout);
  m.attention_dropout = json.real("attn_pdrop", m.attention_dropout);
  reading.require(!json.flag("scale_attn_by_inverse_layer_idx", false),
                  "scale_attn_by_inverse_layer_idx");
  reading.require(json.flag("scale_attn_weights", true), "scale_attn_weights false");
  reading.require(!json.flag("add_cross_attention", false), "add_cross_attention");
  reading.require(m.activation != ActivationKind::silu, "activation_function silu");
}

/// One rate of dropout here is two there, of embeddings and of the stream.
void write_gpt2(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  write_sizes(m, kGpt2Sizes, json);
  json.set(kGpt2Sizes.positions, m.max_position_embeddings);
  json.set("resid_pdrop", m.hidden_dropout);
  json.set("embd_pdrop", m.hidden_dropout);
  json.set("attn_pdrop", m.attention_dropout);
}

void read_query_groups(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  m.num_query_groups = reading.json.size("num_key_value_heads", m.num_attention_heads);
  m.group_query_attention = m.num_query_groups != m.num_attention_heads;
  m.kv_channels = reading.json.size("head_dim", m.kv_channels);
}

void write_modern(const ModelConfig& m, JsonObject& json) {
  write_sizes(m, kLlamaSizes, json);
  json.set("num_key_value_heads", m.num_query_groups);
  json.set("head_dim", m.kv_channels);
  write_positions(m, json);
}

/// Reads Llama, Mistral and Qwen2. Qwen2's file does not say that queries, keys and values have a
/// bias.
void read_llama(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  read_whole_heads(reading);
  read_query_groups(reading);
  m.add_bias_linear = json.flag("attention_bias", false);
  m.add_qkv_bias = m.add_bias_linear || reading.result.model_type == "qwen2";
  reading.require(json.flag("mlp_bias", false) == m.add_bias_linear,
                  "attention_bias and mlp_bias differ");
  read_window(reading);
  read_rotary(reading);
}

void write_llama(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  write_modern(m, json);
  if (description.model_type == "llama") {
    json.set("attention_bias", m.add_bias_linear);
    json.set("mlp_bias", m.add_bias_linear);
  }
  if (description.model_type == "mistral" && !json.has("sliding_window")) {
    json.set_null("sliding_window");  // absent, it would be 4096
  }
  write_rotary(m, json);
}

/// Reads a Llama whose MLPs are experts in every layer; intermediate_size is an expert's.
void read_mixtral(ConfigReading& reading) {
  read_llama(reading);
  ModelConfig& m = reading.result.model;
  MoeConfig moe;
  moe.num_experts = reading.json.size("num_local_experts", 8);
  moe.topk = reading.json.size("num_experts_per_tok", 2);
  moe.ffn_hidden_size = m.ffn_hidden_size;
  moe.layers.assign(static_cast<std::size_t>(m.num_layers), true);
  reading.require(moe.topk <= moe.num_experts, "more experts of a token than there are");
  m.moe = moe;
}

void write_mixtral(const ModelDescription& description, JsonObject& json) {
  write_llama(description, json);
  const MoeConfig& moe = *description.model.moe;
  json.set("intermediate_size", moe.ffn_hidden_size);
  json.set("num_local_experts", moe.num_experts);
  json.set("num_experts_per_tok", moe.topk);
}

namespace {

/// Reads DeepSeek's sizes of latents; norms of latents always exist there.
void read_latent_attention(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  m.multi_latent_attention = m.qk_layernorm = true;
  if (json.has("q_lora_rank")) {
    m.q_lora_rank = json.size("q_lora_rank");
  }
  m.kv_lora_rank = json.size("kv_lora_rank");
  m.qk_head_dim = json.size("qk_nope_head_dim");
  m.qk_pos_emb_head_dim = json.size("qk_rope_head_dim");
  m.v_head_dim = json.size("v_head_dim");
  reading.require(m.qk_pos_emb_head_dim % 2 == 0, "qk_rope_head_dim of an odd width");
  reading.require(json.size("num_key_value_heads", m.num_attention_heads) == m.num_attention_heads,
                  "fewer key-value heads than heads");
}

/// Reads experts and routing; choices by groups are accepted only where both programs count a group
/// alike.
MoeConfig read_deepseek_experts(ConfigReading& reading) {
  const ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  MoeConfig moe;
  moe.num_experts = json.size("n_routed_experts");
  moe.topk = json.size("num_experts_per_tok");
  moe.ffn_hidden_size = json.size("moe_intermediate_size");
  moe.shared_expert_intermediate_size = json.size("n_shared_experts") * moe.ffn_hidden_size;
  moe.pre_softmax = true;
  const double dense = json.real("first_k_dense_replace", 0);
  reading.require(dense >= 0 && dense < static_cast<double>(m.num_layers),
                  fmt::format("first_k_dense_replace {}", dense));
  for (Index layer = 0; layer < m.num_layers; ++layer) {
    moe.layers.push_back(static_cast<double>(layer) >= dense);
  }
  if (const double scaling = json.real("routed_scaling_factor", 1); scaling != 1) {
    moe.topk_scaling_factor = scaling;
  }
  const std::string method = json.text("topk_method", "greedy");
  if (method == "group_limited_greedy") {
    moe.num_groups = json.size("n_group");
    moe.group_topk = json.size("topk_group");
    reading.require(moe.topk / *moe.group_topk == 1,
                    "topk_method group_limited_greedy counts a group by its "
                    "best expert, and this "
                    "program by the best num_experts_per_tok / topk_group");
  } else {
    reading.require(method == "greedy", "topk_method " + method);
  }
  reading.require(moe.topk <= moe.num_experts, "more experts of a token than there are");
  return moe;
}

}  // namespace

/// Requires an epsilon of 1e-6, since norms of latents have that one whatever the file says.
void read_deepseek_v2(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  ModelConfig& m = reading.result.model;
  read_whole_heads(reading);
  m.add_bias_linear = m.add_qkv_bias = false;
  read_latent_attention(reading);
  read_yarn(reading);
  m.moe = read_deepseek_experts(reading);
  reading.require(!json.flag("attention_bias", false), "attention_bias");
  reading.require(!json.flag("norm_topk_prob", false), "norm_topk_prob");
  reading.require(json.text("scoring_func", "softmax") == "softmax",
                  "scoring_func " + json.text("scoring_func"));
  reading.require(json.size("moe_layer_freq", 1) == 1, "moe_layer_freq");
  reading.require(m.norm_epsilon == 1e-6, "rms_norm_eps that differs from the latents' 1e-6");
}

/// Writes shared experts as a number of experts' widths, and the dense layers as those in front.
void write_deepseek_v2(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  const MoeConfig& moe = *m.moe;
  write_sizes(m, kLlamaSizes, json);
  json.set(kLlamaSizes.positions, m.max_position_embeddings);
  json.set("num_key_value_heads", m.num_attention_heads);
  if (m.q_lora_rank) {
    json.set("q_lora_rank", *m.q_lora_rank);
  } else {
    json.set_null("q_lora_rank");
  }
  json.set("kv_lora_rank", m.kv_lora_rank);
  json.set("qk_nope_head_dim", m.qk_head_dim);
  json.set("qk_rope_head_dim", m.qk_pos_emb_head_dim);
  json.set("v_head_dim", m.v_head_dim);
  json.set("attention_bias", false);
  json.set("n_routed_experts", moe.num_experts);
  json.set("n_shared_experts", moe.shared_expert_intermediate_size / moe.ffn_hidden_size);
  json.set("num_experts_per_tok", moe.topk);
  json.set("moe_intermediate_size", moe.ffn_hidden_size);
  json.set("first_k_dense_replace", m.num_layers - moe.count_layers());
  json.set("moe_layer_freq", Index{1});
  json.set("routed_scaling_factor", moe.topk_scaling_factor.value_or(1));
  json.set("norm_topk_prob", false);
  json.set("scoring_func", "softmax");
  const bool groups = moe.num_groups.value_or(1) > 1;
  json.set("topk_method", groups ? "group_limited_greedy" : "greedy");
  if (groups) {
    json.set("n_group", *moe.num_groups);
    json.set("topk_group", *moe.group_topk);
  }
  write_yarn(m, json);
}

}  // namespace mpitron::convert
