#include "convert/description/config_reading.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

// What decoders and encoders have in common in a config.json: sizes under the names of the family,
// and the activation.

namespace mpitron::convert {
namespace {

using config::ActivationKind;

constexpr std::pair<const char*, ActivationKind> kActivations[] = {
    {"gelu_new", ActivationKind::gelu_tanh}, {"gelu_pytorch_tanh", ActivationKind::gelu_tanh},
    {"gelu", ActivationKind::gelu_erf},      {"silu", ActivationKind::silu},
    {"swish", ActivationKind::silu},         {"relu2", ActivationKind::squared_relu}};

}  // namespace

void read_sizes(const SizeNames& names, ConfigReading& reading) {
  const JsonObject& json = reading.json;
  config::ModelConfig& m = reading.result.model;
  if (names.layers != nullptr) {
    m.num_layers = json.size(names.layers);
  }
  m.hidden_size = json.size(names.hidden);
  m.num_attention_heads = json.size(names.heads);
  m.ffn_hidden_size = json.size(names.ffn, 4 * m.hidden_size);
  m.max_position_embeddings = json.size(names.positions);
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
  if (names.layers != nullptr) {
    json.set(names.layers, model.num_layers);
  }
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

}  // namespace mpitron::convert
