#include <algorithm>

#include "convert/description/config_reading.h"

// The config.json of Llama 4's language model: layers with and without rotary positions, norms of
// heads without weights in those that have them, experts in some layers. Layers that rotate attend
// to chunks, and the others scale queries by their position: neither is seen by sequences that are
// shorter than a chunk and than where the scale begins, to which a model is bounded here.

namespace mpitron::convert {
namespace {

using config::ModelConfig;
using config::MoeConfig;

constexpr Index kChunk = 8192, kScaleFloor = 8192;
constexpr const char *kRotates = "no_rope_layers", *kExpertLayers = "moe_layers";
constexpr const char *kLongest = "max_position_embeddings", *kChunkSize = "attention_chunk_size";

/// Returns the longest sequence that attends to one chunk and whose queries are not scaled: the
/// scale of position p is that of floor((p + 1) / floor_scale), and nothing at 0.
Index longest_plain(const JsonObject& json) {
  Index positions = json.size(kLongest);
  if (json.has(kChunkSize)) {
    positions = std::min(positions, json.size(kChunkSize));
  }
  if (json.flag("attn_temperature_tuning", true)) {
    positions = std::min(positions, json.size("floor_scale", kScaleFloor) - 1);
  }
  return positions;
}

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

/// Keeps the file's own bounds where they say the same.
void write_bounds(const ModelConfig& m, JsonObject& json) {
  if (json.has(kLongest) && longest_plain(json) == m.max_position_embeddings) {
    return;
  }
  json.set(kLongest, m.max_position_embeddings);
  json.set(kChunkSize, std::max(m.max_position_embeddings, kChunk));
  json.set("attn_temperature_tuning", false);
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
  m.max_position_embeddings = longest_plain(json);
  read_rotating_layers(reading);
  m.moe = read_llama4_experts(reading);
  reading.require(!json.flag("attention_bias", false), "attention_bias");
  reading.require(m.max_position_embeddings > 0, "floor_scale of 1");
}

void write_llama4(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  const MoeConfig& moe = *m.moe;
  const JsonObject before = json;
  write_modern(m, json);
  json.set(kLongest, before.size(kLongest, m.max_position_embeddings));
  write_bounds(m, json);
  write_rotary(m, json);
  std::vector<Index> rotates, experts;
  for (Index layer = 0; layer < m.num_layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    rotates.push_back(m.no_rope_layers.empty() || !m.no_rope_layers[at] ? 1 : 0);
    if (moe.layers[at]) {
      experts.push_back(layer);
    }
  }
  json.set_list(kRotates, rotates);
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
