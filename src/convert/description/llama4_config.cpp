#include <algorithm>

#include "convert/description/config_reading.h"

// The config.json of Llama 4's language model: layers with and without rotary positions, norms of
// heads without weights in those that have them, experts in some layers. Layers that rotate attend
// within chunks, and the others scale queries by their position.

namespace mpitron::convert {
namespace {

using config::ModelConfig;
using config::MoeConfig;

constexpr const char *kRotates = "no_rope_layers", *kExpertLayers = "moe_layers";
constexpr const char *kLongest = "max_position_embeddings", *kChunkSize = "attention_chunk_size";
constexpr const char *kTuning = "attn_temperature_tuning", *kFloor = "floor_scale";
constexpr const char *kGrowth = "attn_scale", *kKinds = "layer_types";
constexpr const char *kChunkedKind = "chunked_attention", *kWholeKind = "full_attention";

/// Reads which layers rotate: 1 in a list whose name says the opposite; without one, all but every
/// fourth.
void read_rotating_layers(ConfigReading& reading) {
  const std::vector<double> rotates = reading.json.reals(kRotates);
  const Index interval = reading.json.size("no_rope_layer_interval", 4);
  ModelConfig& m = reading.result.model;
  reading.require(rotates.empty() || static_cast<Index>(rotates.size()) == m.num_layers,
                  "no_rope_layers of another number of layers");
  for (Index layer = 0; layer < m.num_layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    m.no_rope_layers.push_back(at < rotates.size() ? rotates[at] == 0
                                                   : (layer + 1) % interval == 0);
  }
  m.qk_l2_norm = m.qk_l2_norm_with_rope_only = reading.json.flag("use_qk_norm", true);
}

/// Reads which layers have experts: a list of their numbers, or every so many.
std::vector<bool> expert_layers(ConfigReading& reading) {
  const std::vector<double> numbers = reading.json.reals(kExpertLayers);
  const Index step = reading.json.size("interleave_moe_layer_step", 1);
  std::vector<bool> layers;
  for (Index layer = 0; layer < reading.result.model.num_layers; ++layer) {
    const bool listed = std::ranges::count(numbers, static_cast<double>(layer)) > 0;
    layers.push_back(reading.json.has(kExpertLayers) ? listed : (layer + 1) % step == 0);
  }
  return layers;
}

MoeConfig read_llama4_experts(ConfigReading& reading) {
  MoeConfig moe;
  moe.num_experts = reading.json.size("num_local_experts");
  moe.topk = reading.json.size("num_experts_per_tok", 1);
  moe.ffn_hidden_size = moe.shared_expert_intermediate_size =
      reading.json.size("intermediate_size");
  moe.score = config::RouterScore::sigmoid;
  moe.apply_probs_on_input = true;
  moe.layers = expert_layers(reading);
  reading.require(moe.topk == 1, "num_experts_per_tok that is not 1");
  reading.require(moe.count_layers() > 0, "no layer with experts");
  return moe;
}

bool rotates(const ModelConfig& m, std::size_t layer) {
  return m.no_rope_layers.empty() || !m.no_rope_layers[layer];
}

/// The kind of each layer's attention, which newer files name beside what it follows from.
std::vector<std::string> attention_kinds(const ModelConfig& m) {
  std::vector<std::string> kinds;
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(m.num_layers); ++layer) {
    kinds.emplace_back(m.attention_chunk_size && rotates(m, layer) ? kChunkedKind : kWholeKind);
  }
  return kinds;
}

/// Reads chunks of layers that rotate, and how queries of the others grow. Older files have a
/// number in place of a flag.
void read_long_attention(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  ModelConfig& m = reading.result.model;
  if (json.has(kChunkSize)) {
    m.attention_chunk_size = json.size(kChunkSize);
  }
  const std::string tuning = json.text(kTuning, "true");
  if (tuning != "false" && tuning != "0") {
    const config::QueryScale usual;
    m.query_scale = {.floor = json.size(kFloor, usual.floor),
                     .growth = json.real(kGrowth, usual.growth)};
    reading.require(m.query_scale->growth > 0, "attn_scale of 0 or less");
  }
  const std::vector<std::string> kinds = json.texts(kKinds);
  reading.require(kinds.empty() || kinds == attention_kinds(m),
                  "layer_types that differ from no_rope_layers");
}

void write_long_attention(const ModelConfig& m, JsonObject& json) {
  if (m.attention_chunk_size) {
    json.set(kChunkSize, *m.attention_chunk_size);
  } else {
    json.set_null(kChunkSize);
  }
  json.set(kTuning, m.query_scale.has_value());
  if (m.query_scale) {
    json.set(kFloor, m.query_scale->floor);
    json.set(kGrowth, m.query_scale->growth);
  }
  if (json.has(kKinds)) {
    json.set_list(kKinds, attention_kinds(m));
  }
}

}  // namespace

void read_llama4(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  read_whole_heads(reading);
  read_query_groups(reading);
  read_rotary(reading);
  m.rotary_interleaved = true;
  m.add_bias_linear = m.add_qkv_bias = false;
  m.ffn_hidden_size = json.size("intermediate_size_mlp");
  read_rotating_layers(reading);
  read_long_attention(reading);
  m.moe = read_llama4_experts(reading);
  reading.require(!json.flag("attention_bias", false), "attention_bias");
}

void write_llama4(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  const MoeConfig& moe = *m.moe;
  write_modern(m, json);
  json.set(kLongest, m.max_position_embeddings);
  write_long_attention(m, json);
  write_rotary(m, json);
  std::vector<Index> turning, experts;
  for (Index layer = 0; layer < m.num_layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    turning.push_back(rotates(m, at) ? 1 : 0);
    if (moe.layers[at]) {
      experts.push_back(layer);
    }
  }
  json.set_list(kRotates, turning);
  json.set_list(kExpertLayers, experts);
  json.set("use_qk_norm", m.qk_l2_norm);
  json.set("intermediate_size", moe.ffn_hidden_size);
  json.set("intermediate_size_mlp", m.ffn_hidden_size);
  json.set("num_local_experts", moe.num_experts);
  json.set("num_experts_per_tok", moe.topk);
  json.set("attention_bias", false);
  json.set("attention_dropout", m.attention_dropout);
}

}  // namespace mpitron::convert
