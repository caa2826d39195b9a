#include <algorithm>

#include <fmt/format.h>

#include "convert/description/config_reading.h"

// The config.json of GPT-OSS: sliding windows in every other layer, which Gemma's files tell in the
// same words, learned sinks, clamped gates, and experts with biases.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::MoeConfig;

constexpr const char *kSliding = "sliding_attention", *kWhole = "full_attention";
constexpr WindowDefaults kGptOssWindows{.window = 128, .period = 2};

MoeConfig read_experts(ConfigReading& reading) {
  const ModelConfig& m = reading.result.model;
  MoeConfig moe;
  moe.num_experts = reading.json.size("num_local_experts");
  moe.topk = reading.json.size("num_experts_per_tok");
  moe.ffn_hidden_size = m.ffn_hidden_size;
  moe.layers.assign(static_cast<std::size_t>(m.num_layers), true);
  reading.require(moe.topk <= moe.num_experts, "more experts of a token than there are");
  return moe;
}

}  // namespace

/// A window of n keys shows a query itself and n - 1 before it.
void read_windows(ConfigReading& reading, const WindowDefaults& defaults) {
  const std::vector<std::string> kinds = reading.json.texts("layer_types");
  ModelConfig& m = reading.result.model;
  reading.require(kinds.empty() || static_cast<Index>(kinds.size()) == m.num_layers,
                  "layer_types of another number of layers");
  reading.require(std::ranges::all_of(
                      kinds, [](const auto& kind) { return kind == kSliding || kind == kWhole; }),
                  "layer_types beside sliding_attention and full_attention");
  for (Index layer = 0; layer < m.num_layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    m.window_layers.push_back(at < kinds.size() ? kinds[at] == kSliding
                                                : (layer + 1) % defaults.period != 0);
  }
  m.window_size = {reading.json.size("sliding_window", defaults.window) - 1, 0};
}

void write_windows(const ModelConfig& m, const WindowDefaults& defaults, JsonObject& json) {
  std::vector<std::string> kinds;
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(m.num_layers); ++layer) {
    const bool window = m.window_size && (m.window_layers.empty() || m.window_layers[layer]);
    kinds.emplace_back(window ? kSliding : kWhole);
  }
  json.set_list("layer_types", kinds);
  json.set("sliding_window", m.window_size ? (*m.window_size)[0] + 1 : defaults.window);
}

void read_gpt_oss(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  read_whole_heads(reading);
  read_query_groups(reading);
  read_yarn(reading);
  m.activation = ActivationKind::quick_gelu;
  m.activation_clamp = reading.json.real("swiglu_limit", kGptOssClamp);
  m.glu_linear_offset = kGptOssOffset;
  m.add_bias_linear = m.add_qkv_bias = true;
  m.attention_sink = config::AttentionSink::learned;
  read_windows(reading, kGptOssWindows);
  m.moe = read_experts(reading);
  reading.require(m.activation_clamp == kGptOssClamp, "swiglu_limit that is not 7");
  reading.require(reading.json.flag("attention_bias", true), "attention_bias false");
  reading.require(m.mscale == 1 && m.mscale_all_dim == 0, "mscale of YaRN");
}

void write_gpt_oss(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  const MoeConfig& moe = *m.moe;
  write_modern(m, json);
  write_yarn(m, json);
  write_windows(m, kGptOssWindows, json);
  json.set("max_position_embeddings", m.max_position_embeddings);
  json.set("hidden_act", "silu");
  json.set("intermediate_size", moe.ffn_hidden_size);
  json.set("num_local_experts", moe.num_experts);
  json.set("num_experts_per_tok", moe.topk);
  json.set("swiglu_limit", kGptOssClamp);
  json.set("attention_bias", true);
  json.set("attention_dropout", m.attention_dropout);
}

}  // namespace mpitron::convert
