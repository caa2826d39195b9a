#include "convert/model_description.h"

#include <cmath>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "config/list_expression.h"
#include "utils/error.h"

namespace mpitron::convert {
namespace {

using Json = nlohmann::ordered_json;
using config::ActivationKind;
using config::ModelConfig;
using config::ModelKind;
using config::MoeConfig;
using config::Normalization;
using config::PositionEmbedding;
using config::RopeType;
using config::RouterScore;

/// Options whose value is a member of ModelConfig; read and written by the same tables.
constexpr std::pair<const char*, Index ModelConfig::*> kIntegers[] = {
    {"num_layers", &ModelConfig::num_layers},
    {"hidden_size", &ModelConfig::hidden_size},
    {"ffn_hidden_size", &ModelConfig::ffn_hidden_size},
    {"num_attention_heads", &ModelConfig::num_attention_heads},
    {"num_query_groups", &ModelConfig::num_query_groups},
    {"kv_channels", &ModelConfig::kv_channels},
    {"max_position_embeddings", &ModelConfig::max_position_embeddings},
    {"padded_vocab_size", &ModelConfig::padded_vocab_size},
    {"make_vocab_size_divisible_by", &ModelConfig::make_vocab_size_divisible_by},
    {"rotary_base", &ModelConfig::rotary_base},
};
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
constexpr const char* kBinaryHead = "bert_binary_head";
constexpr const char* kSharedExpert = "moe_shared_expert_intermediate_size";
constexpr std::pair<const char*, bool ModelConfig::*> kFlags[] = {
    {"group_query_attention", &ModelConfig::group_query_attention},
    {"untie_embeddings_and_output_weights", &ModelConfig::untie_embeddings_and_output_weights},
    {"add_bias_linear", &ModelConfig::add_bias_linear},
    {"add_qkv_bias", &ModelConfig::add_qkv_bias},
    {"qk_layernorm", &ModelConfig::qk_layernorm},
    {"rotary_interleaved", &ModelConfig::rotary_interleaved},
    {"use_rope_scaling", &ModelConfig::use_rope_scaling},
    {"apply_layernorm_1p", &ModelConfig::apply_layernorm_1p},
    {"swiglu", &ModelConfig::gated_linear_unit},
};
constexpr std::pair<const char*, double ModelConfig::*> kReals[] = {
    {"rotary_percent", &ModelConfig::rotary_percent},
    {"rope_scaling_factor", &ModelConfig::rope_scaling_factor},
    {"norm_epsilon", &ModelConfig::norm_epsilon},
    {"attention_dropout", &ModelConfig::attention_dropout},
    {"hidden_dropout", &ModelConfig::hidden_dropout},
    {"init_method_std", &ModelConfig::init_method_std},
};
constexpr std::pair<const char*, PositionEmbedding> kPositions[] = {
    {"learned_absolute", PositionEmbedding::learned_absolute},
    {"rope", PositionEmbedding::rope},
    {"relative", PositionEmbedding::relative},
    {"none", PositionEmbedding::none}};
constexpr std::pair<const char*, Normalization> kNorms[] = {
    {"LayerNorm", Normalization::layer_norm}, {"RMSNorm", Normalization::rms_norm}};

constexpr std::pair<const char*, ModelKind> kKinds[] = {
    {"gpt", ModelKind::gpt}, {"bert", ModelKind::bert}, {"t5", ModelKind::t5}};
constexpr std::pair<const char*, RopeType> kRopeTypes[] = {{"rope", RopeType::rope},
                                                           {"yarn", RopeType::yarn}};
constexpr std::pair<const char*, RouterScore> kScores[] = {{"softmax", RouterScore::softmax},
                                                           {"sigmoid", RouterScore::sigmoid}};

constexpr Index kLargest = Index{1} << 31;  // of any size

/// Reads what is there; a value that is absent or null leaves `into` as it was.
class Options {
 public:
  Options(const std::string& text, const std::string& source)
      : json_(Json::parse(text, nullptr, false)), source_(source) {
    if (!json_.is_object()) {
      throw_data("{}: the configuration is no JSON object", source);
    }
  }

  template <class T>
  bool read(const char* name, T& into) const {
    const auto found = json_.find(name);
    if (found == json_.end() || found->is_null()) {
      return false;
    }
    const bool fits = std::is_same_v<T, bool>          ? found->is_boolean()
                      : std::is_same_v<T, std::string> ? found->is_string()
                      : std::is_same_v<T, double>      ? found->is_number()
                                                       : is_integer(*found);
    if (!fits) {
      throw_data("{}: {} has the value {}, which is of another kind", source_, name, found->dump());
    }
    if constexpr (std::is_same_v<T, Index>) {
      if (std::abs(found->get<double>()) > static_cast<double>(kLargest)) {
        throw_data("{}: {} is {}, allowed are at most {}", source_, name, found->dump(), kLargest);
      }
    }
    into = found->get<T>();
    return true;
  }
  template <class T>
  void read(const char* name, std::optional<T>& into) const {
    T value{};
    if (read(name, value)) {
      into = value;
    }
  }
  template <class Table, class Object>
  void read_all(const Table& table, Object& object) const {
    for (const auto& [name, member] : table) {
      read(name, object.*member);
    }
  }
  bool flag(const char* name, bool otherwise = false) const {
    read(name, otherwise);
    return otherwise;
  }
  /// Numbers and lists as JSON writes them; "" where it is absent.
  std::string text(const char* name) const {
    const auto found = json_.find(name);
    return found == json_.end() || found->is_null() ? ""
           : found->is_string()                     ? found->get<std::string>()
                                                    : found->dump();
  }
  template <class Names, class E>
  void choose(const char* name, const Names& names, E& into) const {
    std::string word;
    if (!read(name, word)) {
      return;
    }
    for (const auto& [candidate, value] : names) {
      if (word == candidate) {
        into = value;
        return;
      }
    }
    throw_data("{}: {} is {}, which cannot be converted", source_, name, word);
  }

 private:
  static bool is_integer(const Json& value) {
    return value.is_number_integer() ||
           (value.is_number() && std::trunc(value.get<double>()) == value.get<double>());
  }

  Json json_;
  const std::string& source_;
};

ActivationKind activation(const Options& options, const ModelConfig& model) {
  if (model.gated_linear_unit) {
    return ActivationKind::silu;
  }
  if (options.flag("squared_relu")) {
    return ActivationKind::squared_relu;
  }
  const bool fused = model.add_bias_linear && options.flag("bias_gelu_fusion", true);
  return fused || options.flag("openai_gelu") ? ActivationKind::gelu_tanh
                                              : ActivationKind::gelu_erf;
}

/// With the end of document that the null tokenizer adds to what the user gave.
Index vocab_size(const Options& options) {
  Index size = 0;
  std::string tokenizer;
  options.read("vocab_size", size);
  options.read("tokenizer_type", tokenizer);
  return size > 0 && tokenizer == "NullTokenizer" ? size + 1 : size;
}

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

std::optional<MoeConfig> read_experts(const Options& options, const ModelConfig& model,
                                      const std::string& source) {
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
  moe.layers = expert_layers(options.text("moe_layer_freq"), model.num_layers, source);
  for (const auto& [name, member] : kExpertIntegers) {
    if (moe.*member < 1) {
      throw_data("{}: {} is {}, allowed are 1 to {}", source, name, moe.*member, kLargest);
    }
  }
  return moe;
}

void read_latent_attention(const Options& options, ModelConfig& model) {
  model.multi_latent_attention = options.flag("multi_latent_attention");
  if (model.multi_latent_attention) {
    model.rope_type = RopeType::yarn;
    options.read("q_lora_rank", model.q_lora_rank);
    options.read_all(kLatentIntegers, model);
  }
  options.choose("rope_type", kRopeTypes, model.rope_type);
  options.read_all(kYarnReals, model);
}

/// What follows from other values, as config::derive_values has it.
void fill_derived(ModelConfig& model) {
  if (!model.group_query_attention) {
    model.num_query_groups = model.num_attention_heads;
  }
  if (model.kv_channels == 0 && model.num_attention_heads > 0) {
    model.kv_channels = model.hidden_size / model.num_attention_heads;
  }
  if (model.ffn_hidden_size == 0) {
    model.ffn_hidden_size =
        model.gated_linear_unit ? model.hidden_size * 8 / 3 / 64 * 64 : 4 * model.hidden_size;
  }
  model.add_qkv_bias = model.add_qkv_bias || model.add_bias_linear;
  model.seq_length = model.max_position_embeddings;
  model.decoder_seq_length = model.kind == ModelKind::t5 ? model.seq_length : 0;
  model.softmax_scale =
      model.kv_channels > 0 ? 1 / std::sqrt(static_cast<double>(model.kv_channels)) : 0;
}

void check_sizes(const ModelConfig& model, const std::string& source) {
  const auto check = [&](const auto& table) {
    for (const auto& [name, member] : table) {
      const bool may_be_unknown = member == &ModelConfig::padded_vocab_size;
      if (model.*member < (may_be_unknown ? 0 : 1) || model.*member > kLargest) {
        throw_data("{}: {} is {}, allowed are 1 to {}", source, name, model.*member, kLargest);
      }
    }
  };
  check(kIntegers);
  check(kRelativeIntegers);
  check(kLatentIntegers);
  if (model.num_attention_heads % model.num_query_groups != 0) {
    throw_data("{}: num_attention_heads {} is no multiple of num_query_groups {}", source,
               model.num_attention_heads, model.num_query_groups);
  }
}

template <class Table, class Object>
void write_all(const Table& table, const Object& object, Json& json) {
  for (const auto& [name, member] : table) {
    json[name] = object.*member;
  }
}

/// Those that have a value.
template <class Table, class Object>
void write_given(const Table& table, const Object& object, Json& json) {
  for (const auto& [name, member] : table) {
    if (object.*member) {
      json[name] = *(object.*member);
    }
  }
}

template <class Names, class E>
void write_choice(const char* name, const Names& names, E value, Json& json) {
  for (const auto& [word, candidate] : names) {
    if (candidate == value) {
      json[name] = word;
    }
  }
}

void write_experts(const MoeConfig& moe, Json& json) {
  write_all(kExpertIntegers, moe, json);
  write_all(kExpertFlags, moe, json);
  write_given(kGroupIntegers, moe, json);
  write_given(kExpertReals, moe, json);
  if (moe.shared_expert_intermediate_size > 0) {
    json[kSharedExpert] = moe.shared_expert_intermediate_size;
  }
  write_choice("moe_router_score_function", kScores, moe.score, json);
  if (moe.sinkhorn) {
    json["moe_router_load_balancing_type"] = "sinkhorn";
  }
  std::vector<int> layers(moe.layers.begin(), moe.layers.end());
  json["moe_layer_freq"] = fmt::format("[{}]", fmt::join(layers, ","));
}

void write_latent_attention(const ModelConfig& model, Json& json) {
  json["multi_latent_attention"] = true;
  if (model.q_lora_rank) {
    json["q_lora_rank"] = *model.q_lora_rank;
  }
  write_all(kLatentIntegers, model, json);
}

void write_positions(const ModelConfig& model, Json& json) {
  write_choice("position_embedding_type", kPositions, model.position_embedding_type, json);
  if (model.rotary_seq_len_interpolation_factor) {
    json["rotary_seq_len_interpolation_factor"] = *model.rotary_seq_len_interpolation_factor;
  }
  if (model.multi_latent_attention || model.rope_type == RopeType::yarn) {
    write_choice("rope_type", kRopeTypes, model.rope_type, json);
    write_all(kYarnReals, model, json);
  }
  if (model.position_embedding_type == PositionEmbedding::relative) {
    write_all(kRelativeIntegers, model, json);
  }
}

}  // namespace

std::string to_configuration(const ModelDescription& description) {
  const ModelConfig& model = description.model;
  Json json = Json::object();
  write_choice("model", kKinds, model.kind, json);
  if (model.kind == ModelKind::bert) {
    json[kBinaryHead] = model.bert_binary_head;
  }
  write_all(kIntegers, model, json);
  write_all(kFlags, model, json);
  write_all(kReals, model, json);
  write_choice("normalization", kNorms, model.normalization, json);
  write_positions(model, json);
  if (model.moe) {
    write_experts(*model.moe, json);
  }
  if (model.multi_latent_attention) {
    write_latent_attention(model, json);
  }
  if (model.mtp_num_layers) {
    json["mtp_num_layers"] = *model.mtp_num_layers;
  }
  const bool tanh = model.activation == ActivationKind::gelu_tanh;
  json["squared_relu"] = model.activation == ActivationKind::squared_relu;
  json["bias_gelu_fusion"] = tanh && model.add_bias_linear;
  json["openai_gelu"] = tanh && !model.add_bias_linear;
  json["bf16"] = model.params_dtype == DType::bf16;
  json["fp16"] = model.params_dtype == DType::f16;
  if (description.vocab_size > 0) {
    json["vocab_size"] = description.vocab_size;
  }
  return json.dump(2);
}

ModelDescription from_configuration(const std::string& json, const std::string& source) {
  const Options options(json, source);
  ModelDescription result;
  ModelConfig& model = result.model;
  model.num_query_groups = 1;
  options.choose("model", kKinds, model.kind);
  options.read_all(kIntegers, model);
  options.read_all(kRelativeIntegers, model);
  options.read_all(kFlags, model);
  options.read_all(kReals, model);
  options.read(kBinaryHead, model.bert_binary_head);
  options.read("mtp_num_layers", model.mtp_num_layers);
  options.choose("position_embedding_type", kPositions, model.position_embedding_type);
  options.choose("normalization", kNorms, model.normalization);
  options.read("rotary_seq_len_interpolation_factor", model.rotary_seq_len_interpolation_factor);
  read_latent_attention(options, model);
  if (model.max_position_embeddings == 0) {  // rotary models of a run may leave it out
    options.read("seq_length", model.max_position_embeddings);
  }
  model.activation = activation(options, model);
  model.params_dtype = options.flag("bf16")   ? DType::bf16
                       : options.flag("fp16") ? DType::f16
                                              : DType::f32;
  fill_derived(model);
  check_sizes(model, source);
  model.moe = read_experts(options, model, source);
  result.vocab_size = vocab_size(options);
  return result;
}

}  // namespace mpitron::convert
