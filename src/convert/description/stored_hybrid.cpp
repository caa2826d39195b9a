#include "convert/description/stored_hybrid.h"

#include <utility>

#include <fmt/ranges.h>

#include "config/layer_pattern.h"
#include "config/values/list_expression.h"

namespace mpitron::convert {
namespace {

using config::DeltaNetConfig;
using config::HybridConfig;
using config::MambaConfig;
using config::ModelConfig;

constexpr std::pair<const char*, Index MambaConfig::*> kMambaSizes[] = {
    {"mamba_state_dim", &MambaConfig::state_dim},
    {"mamba_head_dim", &MambaConfig::head_dim},
    {"mamba_num_groups", &MambaConfig::groups},
    {"mamba_num_heads", &MambaConfig::heads},
};
constexpr std::pair<const char*, Index DeltaNetConfig::*> kDeltaNetSizes[] = {
    {"linear_conv_kernel_dim", &DeltaNetConfig::conv_width},
    {"linear_key_head_dim", &DeltaNetConfig::key_dim},
    {"linear_value_head_dim", &DeltaNetConfig::value_dim},
    {"linear_num_key_heads", &DeltaNetConfig::key_heads},
    {"linear_num_value_heads", &DeltaNetConfig::value_heads},
};
constexpr const char *kVariant = "experimental_attention_variant", *kDelta = "gated_delta_net";
constexpr const char *kFrequency = "linear_attention_freq", *kPattern = "hybrid_layer_pattern";
constexpr const char *kGate = "attention_output_gate", *kSharedGate = "moe_shared_expert_gate";

/// Bars cut a pipeline and mean nothing here.
std::string pattern_of(const StoredOptions& options, const ModelConfig& model) {
  double attention = 0, mlps = 0;
  for (const char* name : {kPattern, "hybrid_override_pattern"}) {
    if (const std::string text = options.text(name); !text.empty()) {
      return config::read_pattern(text).letters;
    }
  }
  options.read("hybrid_attention_ratio", attention);
  options.read("hybrid_mlp_ratio", mlps);
  if (attention < 0 || mlps < 0 || attention + mlps > 1) {
    throw_data("{}: hybrid ratios {} and {}", options.source(), attention, mlps);
  }
  return config::pattern_of_ratios(model.num_layers, attention, mlps);
}

/// All but every n-th layer, or those that a list marks.
std::vector<bool> delta_layers_of(const StoredOptions& options, const ModelConfig& model) {
  std::vector<bool> result;
  const std::string text = options.text(kFrequency);
  const config::Frequency frequency = config::parse_list_expression(text.empty() ? "1" : text);
  for (Index layer = 0; layer < model.num_layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    result.push_back(frequency.is_list
                         ? at < frequency.entries.size() && frequency.entries[at] != 0
                         : frequency.number > 0 && (layer + 1) % frequency.number != 0);
  }
  return result;
}

}  // namespace

void read_hybrid(const StoredOptions& options, ModelConfig& model) {
  HybridConfig& hybrid = model.hybrid;
  hybrid.mamba.heads = 0;
  options.read_all(kMambaSizes, hybrid.mamba);
  options.read_all(kDeltaNetSizes, hybrid.delta_net);
  check_sizes(kDeltaNetSizes, hybrid.delta_net, 1, options.source());
  if (model.family().by_letters) {
    if (hybrid.mamba.heads == 0 && hybrid.mamba.head_dim > 0) {
      hybrid.mamba.heads = 2 * model.hidden_size / hybrid.mamba.head_dim;
    }
    check_sizes(kMambaSizes, hybrid.mamba, 1, options.source());
    hybrid.pattern = pattern_of(options, model);
    model.num_layers = static_cast<Index>(hybrid.pattern.size());
  } else if (options.text(kVariant) == kDelta) {
    hybrid.delta_layers = delta_layers_of(options, model);
  }
  model.attention_output_gate = options.flag(kGate);
  if (model.moe) {
    model.moe->shared_expert_gate = options.flag(kSharedGate);
  }
}

void write_hybrid(const ModelConfig& model, JsonObject& json) {
  const HybridConfig& hybrid = model.hybrid;
  if (!hybrid.pattern.empty()) {
    json.set(kPattern, hybrid.pattern.c_str());
    write_all(kMambaSizes, hybrid.mamba, json);
  }
  if (!hybrid.delta_layers.empty()) {
    const std::vector<int> marks(hybrid.delta_layers.begin(), hybrid.delta_layers.end());
    json.set(kVariant, kDelta);
    json.set(kFrequency, fmt::format("[{}]", fmt::join(marks, ",")).c_str());
    write_all(kDeltaNetSizes, hybrid.delta_net, json);
  }
  if (model.attention_output_gate) {
    json.set(kGate, true);
  }
  if (model.moe && model.moe->shared_expert_gate) {
    json.set(kSharedGate, true);
  }
}

}  // namespace mpitron::convert
