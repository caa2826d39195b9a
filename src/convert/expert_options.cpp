#include "convert/expert_options.h"

#include <utility>

#include <fmt/ranges.h>

#include "config/list_expression.h"

namespace mpitron::convert {

using config::ModelConfig;
using config::MoeConfig;
using config::RouterScore;

namespace {

constexpr std::pair<const char*, Index MoeConfig::*> kExpertIntegers[] = {
    {"num_experts", &MoeConfig::num_experts},
    {"moe_ffn_hidden_size", &MoeConfig::ffn_hidden_size},
    {"moe_router_topk", &MoeConfig::topk},
};
constexpr std::pair<const char*, bool MoeConfig::*> kExpertFlags[] = {
    {"moe_router_pre_softmax", &MoeConfig::pre_softmax},
    {"moe_router_enable_expert_bias", &MoeConfig::expert_bias},
    {"moe_apply_probs_on_input", &MoeConfig::apply_probs_on_input},
};
constexpr std::pair<const char*, std::optional<Index> MoeConfig::*> kGroupIntegers[] = {
    {"moe_router_num_groups", &MoeConfig::num_groups},
    {"moe_router_group_topk", &MoeConfig::group_topk},
};
constexpr std::pair<const char*, std::optional<double> MoeConfig::*> kExpertReals[] = {
    {"moe_router_topk_scaling_factor", &MoeConfig::topk_scaling_factor},
    {"moe_expert_capacity_factor", &MoeConfig::capacity_factor},
};
constexpr const char* kSharedExpert = "moe_shared_expert_intermediate_size";
constexpr std::pair<const char*, RouterScore> kScores[] = {{"softmax", RouterScore::softmax},
                                                           {"sigmoid", RouterScore::sigmoid}};

/// Which layers have experts: every n-th, or those that a list marks.
std::vector<bool> expert_layers(const std::string& frequency, Index layers,
                                const std::string& source) {
  std::vector<bool> result;
  try {
    const config::Frequency read =
        config::parse_list_expression(frequency.empty() ? "1" : frequency);
    for (Index layer = 0; layer < layers; ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      result.push_back(read.is_list ? at < read.entries.size() && read.entries[at] != 0
                                    : read.number > 0 && layer % read.number == 0);
    }
  } catch (const Error& error) {
    throw_data("{}: moe_layer_freq {}: {}", source, frequency, error.what());
  }
  return result;
}

}  // namespace

std::optional<MoeConfig> read_experts(const StoredOptions& options, const ModelConfig& model) {
  MoeConfig moe;
  moe.ffn_hidden_size = model.ffn_hidden_size;
  options.read_all(kExpertIntegers, moe);
  if (moe.num_experts == 0) {
    return std::nullopt;
  }
  options.read_all(kExpertFlags, moe);
  options.read_all(kGroupIntegers, moe);
  options.read_all(kExpertReals, moe);
  options.read(kSharedExpert, moe.shared_expert_intermediate_size);
  options.choose("moe_router_score_function", kScores, moe.score);
  moe.sinkhorn =
      options.text("moe_router_load_balancing_type").find("sinkhorn") != std::string::npos;
  moe.layers = expert_layers(options.text("moe_layer_freq"), model.num_layers, options.source());
  check_sizes(kExpertIntegers, moe, 1, options.source());
  return moe;
}

void write_experts(const MoeConfig& moe, JsonObject& json) {
  write_all(kExpertIntegers, moe, json);
  write_all(kExpertFlags, moe, json);
  write_given(kGroupIntegers, moe, json);
  write_given(kExpertReals, moe, json);
  if (moe.shared_expert_intermediate_size > 0) {
    json.set(kSharedExpert, moe.shared_expert_intermediate_size);
  }
  write_choice("moe_router_score_function", kScores, moe.score, json);
  if (moe.sinkhorn) {
    json.set("moe_router_load_balancing_type", "sinkhorn");
  }
  std::vector<int> layers(moe.layers.begin(), moe.layers.end());
  json.set("moe_layer_freq", fmt::format("[{}]", fmt::join(layers, ",")).c_str());
}

}  // namespace mpitron::convert
