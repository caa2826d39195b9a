#include <algorithm>

#include "config/layer_pattern.h"
#include "convert/description/model_options.h"
#include "convert/description/recurrent_config.h"

// The config.json of Qwen3-Next: delta nets between gated attention, and experts.

namespace mpitron::convert {
namespace {

using config::ModelConfig;
using config::MoeConfig;

/// Marks the layers with a delta net: listed by name, or all but every n-th.
std::vector<bool> read_delta_layers(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  const Index layers = reading.result.model.num_layers;
  const Index interval = json.size("full_attention_interval", 4);
  const std::vector<std::string> kinds = json.texts("layer_types");
  reading.require(kinds.empty() || static_cast<Index>(kinds.size()) == layers,
                  "layer_types of another number of layers");
  std::vector<bool> result;
  for (Index layer = 0; layer < layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    result.push_back(at < kinds.size() ? kinds[at] == kLinear : (layer + 1) % interval != 0);
  }
  reading.require(
      std::ranges::all_of(kinds,
                          [](const std::string& kind) { return kind == kLinear || kind == kFull; }),
      "layer_types beside linear_attention and full_attention");
  return result;
}

/// Reads experts of all layers; files with dense layers between them are refused.
MoeConfig read_qwen_experts(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  MoeConfig moe;
  moe.num_experts = json.size("num_experts");
  moe.topk = json.size("num_experts_per_tok");
  moe.ffn_hidden_size = json.size("moe_intermediate_size");
  moe.shared_expert_intermediate_size = json.size("shared_expert_intermediate_size");
  moe.shared_expert_gate = true;
  moe.layers.assign(static_cast<std::size_t>(reading.result.model.num_layers), true);
  reading.require(moe.topk <= moe.num_experts, "more experts of a token than there are");
  reading.require(json.flag("norm_topk_prob", true), "norm_topk_prob false");
  reading.require(json.size("decoder_sparse_step", 1) == 1, "decoder_sparse_step");
  reading.require(json.texts("mlp_only_layers").empty(), "mlp_only_layers");
  return moe;
}

}  // namespace

/// Its norms hold weight - 1 (apply_layernorm_1p), and each head of queries a gate.
void read_qwen3_next(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  read_modern(reading);
  read_query_groups(reading);
  read_rotary(reading);
  m.apply_layernorm_1p = m.qk_layernorm = m.attention_output_gate = true;
  m.add_bias_linear = m.add_qkv_bias = false;
  m.hybrid.delta_layers = read_delta_layers(reading);
  for (const auto& [name, member] : kDeltaNetSizes) {
    m.hybrid.delta_net.*member = reading.json.size(name, m.hybrid.delta_net.*member);
  }
  m.moe = read_qwen_experts(reading);
  reading.require(m.hybrid.delta_net.value_heads % m.hybrid.delta_net.key_heads == 0,
                  "value heads that key heads do not share evenly");
  reading.require(!reading.json.flag("attention_bias", false), "attention_bias");
}

void write_qwen3_next(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  const MoeConfig& moe = *m.moe;
  write_modern(m, json);
  write_rotary(m, json);
  json.set("partial_rotary_factor", m.rotary_percent);
  json.set("attention_bias", false);
  std::vector<std::string> kinds;
  for (const bool delta : m.hybrid.delta_layers) {
    kinds.emplace_back(delta ? kLinear : kFull);
  }
  json.set_list("layer_types", kinds);
  write_all(kDeltaNetSizes, m.hybrid.delta_net, json);
  json.set("num_experts", moe.num_experts);
  json.set("num_experts_per_tok", moe.topk);
  json.set("moe_intermediate_size", moe.ffn_hidden_size);
  json.set("shared_expert_intermediate_size", moe.shared_expert_intermediate_size);
  json.set("norm_topk_prob", true);
  json.set("decoder_sparse_step", Index{1});
}

}  // namespace mpitron::convert
