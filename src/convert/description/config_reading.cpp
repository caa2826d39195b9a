#include "convert/description/config_reading.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

// What decoders and encoders have in common in a config.json: sizes under the names of the family,
// the activation, the vocabulary, the type of the weights.

namespace mpitron::convert {
namespace {

using config::ActivationKind;

constexpr std::pair<const char*, ActivationKind> kActivations[] = {
    {"gelu_new", ActivationKind::gelu_tanh}, {"gelu_pytorch_tanh", ActivationKind::gelu_tanh},
    {"gelu", ActivationKind::gelu_erf},      {"silu", ActivationKind::silu},
    {"swish", ActivationKind::silu},         {"relu2", ActivationKind::squared_relu}};

constexpr std::pair<const char*, DType> kTypes[] = {
    {"float32", DType::f32}, {"bfloat16", DType::bf16}, {"float16", DType::f16}};

}  // namespace

void read_sizes(const SizeNames& names, ConfigReading& reading) {
  const JsonObject& json = reading.json;
  config::ModelConfig& m = reading.result.model;
  m.num_layers = m.num_layers > 0 ? m.num_layers : json.size(names.layers);
  m.hidden_size = json.size(names.hidden);
  m.num_attention_heads = json.size(names.heads);
  m.ffn_hidden_size = json.size(names.ffn, 4 * m.hidden_size);
  if (names.positions != nullptr) {
    m.max_position_embeddings = json.size(names.positions);
  }
  m.norm_epsilon = json.real(names.epsilon, m.norm_epsilon);
  m.num_query_groups = m.num_attention_heads;
  m.kv_channels = m.hidden_size / m.num_attention_heads;
  const std::string activation = json.text(names.activation);
  const auto* found =
      std::ranges::find(kActivations, activation, &std::pair<const char*, ActivationKind>::first);
  const bool known = found != std::end(kActivations);
  reading.require(known, fmt::format("{} {}", names.activation, activation));
  m.activation = known ? found->second : ActivationKind::gelu_erf;
}

void write_sizes(const config::ModelConfig& model, const SizeNames& names, JsonObject& json) {
  json.set(names.layers, model.num_layers);
  json.set(names.hidden, model.hidden_size);
  json.set(names.heads, model.num_attention_heads);
  json.set(names.ffn, model.ffn_hidden_size);
  json.set(names.epsilon, model.norm_epsilon);
  const auto* activation = std::ranges::find(kActivations, model.activation,
                                             &std::pair<const char*, ActivationKind>::second);
  if (activation != std::end(kActivations)) {
    json.set(names.activation, activation->first);
  }
}

void read_type(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  const std::string type = json.text("torch_dtype", json.text("dtype", "float32"));
  const auto* found = std::ranges::find(kTypes, type, &std::pair<const char*, DType>::first);
  reading.require(found != std::end(kTypes), fmt::format("torch_dtype {}", type));
  reading.result.model.params_dtype = found != std::end(kTypes) ? found->second : DType::f32;
}

void write_common(const ModelDescription& description, JsonObject& json) {
  const config::ModelConfig& m = description.model;
  if (m.family().has_words()) {
    json.set("vocab_size", description.stored_vocab_size());
    json.set("tie_word_embeddings", !m.untie_embeddings_and_output_weights);
  }
  json.set("initializer_range", m.init_method_std);
  json.erase("quantization_config");  // weights are written unpacked
  write_type(m, json);
}

/// One name for the type: two could disagree.
void write_type(const config::ModelConfig& model, JsonObject& json) {
  json.erase("dtype");
  const auto* type =
      std::ranges::find(kTypes, model.params_dtype, &std::pair<const char*, DType>::second);
  if (type != std::end(kTypes)) {
    json.set("torch_dtype", type->first);
  }
}

}  // namespace mpitron::convert
