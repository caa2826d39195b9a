#include <cmath>

#include <fmt/format.h>

#include "convert/description/config_reading.h"

// The config.json of Megatron-BERT and of T5. Settings that this program cannot compute are
// collected and refused together.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::ModelKind;
using config::Normalization;
using config::PositionEmbedding;

constexpr SizeNames kBertSizes{
    "num_hidden_layers",       "hidden_size",    "intermediate_size", "num_attention_heads",
    "max_position_embeddings", "layer_norm_eps", "hidden_act"};

constexpr const char* kGatedSilu = "gated-silu";
/// Longest sequence where config.json names none; relative positions have no bound.
constexpr Index kT5Positions = 512;

}  // namespace

void read_megatron_bert(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  read_sizes(kBertSizes, reading);
  m.kind = ModelKind::bert;
  m.position_embedding_type = PositionEmbedding::learned_absolute;
  m.normalization = Normalization::layer_norm;
  m.hidden_dropout = json.real("hidden_dropout_prob", m.hidden_dropout);
  m.attention_dropout = json.real("attention_probs_dropout_prob", m.attention_dropout);
  reading.require(m.activation == ActivationKind::gelu_erf,
                  "hidden_act: the head has the exact GELU (gelu), and so must the layers");
  reading.require(json.text("position_embedding_type", "absolute") == "absolute",
                  "position_embedding_type " + json.text("position_embedding_type"));
  reading.require(json.flag("tie_word_embeddings", true), "tie_word_embeddings false");
  reading.require(json.size("type_vocab_size", 2) == 2, "type_vocab_size: only 2");
  reading.require(!json.flag("is_decoder", false), "is_decoder");
}

void write_megatron_bert(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  write_sizes(m, kBertSizes, json);
  json.set(kBertSizes.positions, m.max_position_embeddings);
  json.set("type_vocab_size", Index{2});
  json.set("hidden_dropout_prob", m.hidden_dropout);
  json.set("attention_probs_dropout_prob", m.attention_dropout);
}

void read_t5(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  m.kind = ModelKind::t5;
  m.num_layers = json.size("num_layers");
  m.hidden_size = json.size("d_model");
  m.ffn_hidden_size = json.size("d_ff");
  m.num_attention_heads = m.num_query_groups = json.size("num_heads");
  m.kv_channels = json.size("d_kv");
  m.max_position_embeddings = m.decoder_seq_length = json.size("n_positions", kT5Positions);
  m.relative_attention_num_buckets = json.size("relative_attention_num_buckets", 32);
  m.relative_attention_max_distance = json.size("relative_attention_max_distance", 128);
  m.norm_epsilon = json.real("layer_norm_epsilon", 1e-6);
  m.hidden_dropout = m.attention_dropout = json.real("dropout_rate", m.hidden_dropout);
  m.position_embedding_type = PositionEmbedding::relative;
  m.normalization = Normalization::rms_norm;
  m.add_bias_linear = m.add_qkv_bias = false;
  m.gated_linear_unit = true;
  m.activation = ActivationKind::silu;
  m.untie_embeddings_and_output_weights = !json.flag("tie_word_embeddings", true);
  const std::string function = json.text("feed_forward_proj", "relu");
  reading.require(function == kGatedSilu, fmt::format("feed_forward_proj {}: this program has "
                                                      "gated-silu (as UL2), no ReLU and no "
                                                      "gated GELU",
                                                      function));
  reading.require(m.untie_embeddings_and_output_weights,
                  "tie_word_embeddings: a tied output matrix, which T5 scales "
                  "by 1/sqrt(d_model)");
  reading.require(json.size("num_decoder_layers", m.num_layers) == m.num_layers,
                  "num_decoder_layers: as many as num_layers");
  const double root = std::sqrt(static_cast<double>(m.kv_channels));
  reading.require(std::exp2(std::round(std::log2(root))) == root,
                  "d_kv: T5 does not scale scores, and only for a power of 4 "
                  "can queries take the "
                  "scale along exactly");
}

void write_t5(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  json.set("num_layers", m.num_layers);
  json.set("num_decoder_layers", m.num_layers);
  json.set("d_model", m.hidden_size);
  json.set("d_ff", m.ffn_hidden_size);
  json.set("num_heads", m.num_attention_heads);
  json.set("d_kv", m.kv_channels);
  json.set("n_positions", m.max_position_embeddings);
  json.set("relative_attention_num_buckets", m.relative_attention_num_buckets);
  json.set("relative_attention_max_distance", m.relative_attention_max_distance);
  json.set("layer_norm_epsilon", m.norm_epsilon);
  json.set("dropout_rate", m.hidden_dropout);
  json.set("feed_forward_proj", kGatedSilu);
  json.set("is_encoder_decoder", true);
}

}  // namespace mpitron::convert
