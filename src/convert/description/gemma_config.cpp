#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "convert/description/config_reading.h"

// The config.json of Gemma: norms around both branches of a layer, MLPs gated by a GELU, embeddings
// times the root of their width, scores divided by a number of the file's own, and windows in most
// layers, which in Gemma 3 have rotary positions of their own.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::Normalization;
using config::PositionEmbedding;

constexpr SizeNames kGemmaNames{
    "num_hidden_layers",       "hidden_size",  "intermediate_size", "num_attention_heads",
    "max_position_embeddings", "rms_norm_eps", "hidden_activation"};
constexpr const char *kRopeTheta = "rope_theta", *kLocalBase = "rope_local_base_freq";
constexpr const char *kQueryScalar = "query_pre_attn_scalar", *kHeadDim = "head_dim";
/// Numbers of a file that does not tell them.
constexpr Index kHeadSize = 256, kScalarOf = 256;
constexpr double kEpsilon = 1e-6, kLocalBaseOf = 10000;
constexpr WindowDefaults kGemmaWindows{.window = 4096, .period = 6};

/// Reads a bound of logits; none where it is null or absent.
void read_bound(const char* name, std::optional<double>& bound, ConfigReading& reading) {
  if (reading.json.has(name)) {
    bound = reading.json.real(name, 0);
    reading.require(*bound > 0, fmt::format("{} of 0 or less", name));
  }
}

void write_bound(const char* name, const std::optional<double>& bound, JsonObject& json) {
  bound ? json.set(name, *bound) : json.set_null(name);
}

/// Reads what all Gemmas with four norms a layer share.
void read_gemma_layers(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  m.norm_epsilon = kEpsilon;
  read_sizes(kGemmaNames, reading);
  read_query_groups(reading);
  m.kv_channels = json.size(kHeadDim, kHeadSize);
  m.position_embedding_type = PositionEmbedding::rope;
  m.normalization = Normalization::rms_norm;
  m.apply_layernorm_1p = m.post_self_attn_layernorm = m.post_mlp_layernorm = true;
  m.gated_linear_unit = m.scale_embeddings = true;
  m.add_bias_linear = m.add_qkv_bias = false;
  m.untie_embeddings_and_output_weights = !json.flag("tie_word_embeddings", true);
  m.hidden_dropout = 0;
  m.attention_dropout = json.real("attention_dropout", 0);
  m.query_pre_attn_scalar = static_cast<double>(json.size(kQueryScalar, kScalarOf));
  reading.require(m.activation == ActivationKind::gelu_tanh,
                  "hidden_activation that is not gelu_pytorch_tanh");
  read_bound("attn_logit_softcapping", m.attn_logit_softcapping, reading);
  read_bound("final_logit_softcapping", m.final_logit_softcapping, reading);
  reading.require(!json.flag("attention_bias", false), "attention_bias");
  reading.require(!json.flag("use_bidirectional_attention", false), "use_bidirectional_attention");
}

void write_gemma_layers(const ModelConfig& m, JsonObject& json) {
  write_sizes(m, kGemmaNames, json);
  json.set(kGemmaNames.activation, "gelu_pytorch_tanh");
  json.set("num_key_value_heads", m.num_query_groups);
  json.set(kHeadDim, m.kv_channels);
  json.set(kGemmaNames.positions, m.max_position_embeddings);
  const auto head = static_cast<double>(m.kv_channels);
  json.set(kQueryScalar, static_cast<Index>(m.query_pre_attn_scalar.value_or(head)));
  write_bound("attn_logit_softcapping", m.attn_logit_softcapping, json);
  write_bound("final_logit_softcapping", m.final_logit_softcapping, json);
  json.set("attention_bias", false);
  json.set("attention_dropout", m.attention_dropout);
}

/// Newer files have an object on rotary positions for each kind of layers.
void read_two_rotations(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  const JsonObject kinds = json.object("rope_parameters");
  const JsonObject whole =
      kinds.has("full_attention") ? kinds.object("full_attention") : json.object("rope_scaling");
  const JsonObject sliding = kinds.object("sliding_attention");
  reading.require(whole.has(kRopeTheta) || json.has(kRopeTheta), "no rope_theta");
  read_rotary(whole, reading);
  const double local = sliding.real(kRopeTheta, json.real(kLocalBase, kLocalBaseOf));
  reading.require(local >= 1 && local < 1e15 && local == std::floor(local),
                  fmt::format("{} {}: only whole numbers", kLocalBase, local));
  reading.require(sliding.text("rope_type", "default") == "default",
                  "rotary scaling of layers with a window");
  reading.result.model.rotary_base_local = static_cast<Index>(std::clamp(local, 1.0, 1e15));
}

}  // namespace

/// Every other layer has a window, beginning with the first; all have the same rotary positions.
void read_gemma2(ConfigReading& reading) {
  read_gemma_layers(reading);
  read_windows(reading, {.window = kGemmaWindows.window, .period = 2});
  read_rotary(reading);
}

void write_gemma2(const ModelDescription& description, JsonObject& json) {
  write_gemma_layers(description.model, json);
  write_windows(description.model, kGemmaWindows, json);
  write_rotary(description.model, json);
}

void read_gemma3(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  read_gemma_layers(reading);
  reading.result.model.qk_layernorm = true;
  read_windows(reading, {.window = kGemmaWindows.window,
                         .period = json.size("sliding_window_pattern", kGemmaWindows.period)});
  read_two_rotations(reading);
}

/// Writes the older spelling of rotary positions, which newer transformers read, too.
void write_gemma3(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  write_gemma_layers(m, json);
  write_windows(m, kGemmaWindows, json);
  write_rotary(m, json);
  json.set(kLocalBase, static_cast<double>(*m.rotary_base_local));
}

}  // namespace mpitron::convert
