#include "convert/description/stored_options.h"

#include <cmath>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "config/values/list_expression.h"
#include "utils/text/json_nesting.h"

namespace mpitron::convert {
namespace {

using Json = nlohmann::ordered_json;
using config::ModelConfig;
using config::MoeConfig;
using config::PositionEmbedding;
using config::RopeType;
using config::RouterScore;

bool fits(const Json& value, bool) {
  return value.is_boolean();
}

bool fits(const Json& value, Index) {
  return value.is_number_integer() ||
         (value.is_number() && std::trunc(value.get<double>()) == value.get<double>());
}

bool fits(const Json& value, double) {
  return value.is_number();
}

bool fits(const Json& value, const std::string&) {
  return value.is_string();
}

constexpr std::pair<const char*, Index ModelConfig::*> kRelativeIntegers[] = {
    {"relative_attention_num_buckets", &ModelConfig::relative_attention_num_buckets},
    {"relative_attention_max_distance", &ModelConfig::relative_attention_max_distance},
};
constexpr std::pair<const char*, Index ModelConfig::*> kLatentIntegers[] = {
    {"kv_lora_rank", &ModelConfig::kv_lora_rank},
    {"qk_head_dim", &ModelConfig::qk_head_dim},
    {"qk_pos_emb_head_dim", &ModelConfig::qk_pos_emb_head_dim},
    {"v_head_dim", &ModelConfig::v_head_dim},
};
constexpr std::pair<const char*, double ModelConfig::*> kYarnReals[] = {
    {"rotary_scaling_factor", &ModelConfig::rotary_scaling_factor},
    {"mscale", &ModelConfig::mscale},
    {"mscale_all_dim", &ModelConfig::mscale_all_dim},
};
constexpr std::pair<const char*, PositionEmbedding> kPositions[] = {
    {"learned_absolute", PositionEmbedding::learned_absolute},
    {"rope", PositionEmbedding::rope},
    {"relative", PositionEmbedding::relative},
    {"none", PositionEmbedding::none}};
constexpr std::pair<const char*, RopeType> kRopeTypes[] = {{"rope", RopeType::rope},
                                                           {"yarn", RopeType::yarn}};
constexpr const char* kInterpolation = "rotary_seq_len_interpolation_factor";

void write_latents(const ModelConfig& model, JsonObject& json) {
  json.set("multi_latent_attention", true);
  if (model.q_lora_rank) {
    json.set("q_lora_rank", *model.q_lora_rank);
  }
  write_all(kLatentIntegers, model, json);
}

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

struct StoredOptions::Data {
  Json json;

  /// Null where it is absent.
  const Json* find(const char* name) const {
    const auto found = json.find(name);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
  template <class T>
  bool read(const char* name, const std::string& source, T& into) const {
    const Json* found = find(name);
    if (found == nullptr) {
      return false;
    }
    if (!fits(*found, into)) {
      throw_data("{}: {} has the value {}, which is of another kind", source, name, found->dump());
    }
    if constexpr (std::is_same_v<T, Index>) {
      if (std::abs(found->get<double>()) > static_cast<double>(kLargestSize)) {
        throw_data("{}: {} is {}, allowed are at most {}", source, name, found->dump(),
                   kLargestSize);
      }
    }
    into = found->get<T>();
    return true;
  }
};

StoredOptions::StoredOptions(const std::string& text, std::string source)
    : data_(std::make_unique<Data>()), source_(std::move(source)) {
  data_->json = nests_too_deep(text) ? Json() : Json::parse(text, nullptr, false);
  if (!data_->json.is_object()) {
    throw_data("{}: the configuration is no JSON object", source_);
  }
}

StoredOptions::~StoredOptions() = default;

bool StoredOptions::read(const char* name, bool& into) const {
  return data_->read(name, source_, into);
}

bool StoredOptions::read(const char* name, Index& into) const {
  return data_->read(name, source_, into);
}

bool StoredOptions::read(const char* name, double& into) const {
  return data_->read(name, source_, into);
}

bool StoredOptions::read(const char* name, std::string& into) const {
  return data_->read(name, source_, into);
}

std::string StoredOptions::text(const char* name) const {
  const Json* found = data_->find(name);
  return found == nullptr ? "" : found->is_string() ? found->get<std::string>() : found->dump();
}

void read_attention(const StoredOptions& options, ModelConfig& model) {
  options.choose("position_embedding_type", kPositions, model.position_embedding_type);
  options.read(kInterpolation, model.rotary_seq_len_interpolation_factor);
  options.read_all(kRelativeIntegers, model);
  model.multi_latent_attention = options.flag("multi_latent_attention");
  if (model.multi_latent_attention) {
    model.rope_type = RopeType::yarn;
    options.read("q_lora_rank", model.q_lora_rank);
    options.read_all(kLatentIntegers, model);
  }
  options.choose("rope_type", kRopeTypes, model.rope_type);
  options.read_all(kYarnReals, model);
  check_sizes(kRelativeIntegers, model, 1, options.source());
  check_sizes(kLatentIntegers, model, 1, options.source());
}

void write_attention(const ModelConfig& model, JsonObject& json) {
  write_choice("position_embedding_type", kPositions, model.position_embedding_type, json);
  if (model.rotary_seq_len_interpolation_factor) {
    json.set(kInterpolation, *model.rotary_seq_len_interpolation_factor);
  }
  if (model.multi_latent_attention || model.rope_type == RopeType::yarn) {
    write_choice("rope_type", kRopeTypes, model.rope_type, json);
    write_all(kYarnReals, model, json);
  }
  if (model.position_embedding_type == PositionEmbedding::relative) {
    write_all(kRelativeIntegers, model, json);
  }
  if (model.multi_latent_attention) {
    write_latents(model, json);
  }
}

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
