#include "convert/model_description.h"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "utils/error.h"

namespace mpitron::convert {
namespace {

using Json = nlohmann::ordered_json;
using config::ActivationKind;
using config::ModelConfig;
using config::Normalization;
using config::PositionEmbedding;

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
    {"none", PositionEmbedding::none}};
constexpr std::pair<const char*, Normalization> kNorms[] = {
    {"LayerNorm", Normalization::layer_norm}, {"RMSNorm", Normalization::rms_norm}};

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
  bool flag(const char* name, bool otherwise = false) const {
    read(name, otherwise);
    return otherwise;
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
  model.softmax_scale =
      model.kv_channels > 0 ? 1 / std::sqrt(static_cast<double>(model.kv_channels)) : 0;
}

void check_sizes(const ModelConfig& model, const std::string& source) {
  for (const auto& [name, member] : kIntegers) {
    const bool may_be_unknown = member == &ModelConfig::padded_vocab_size;
    if (model.*member < (may_be_unknown ? 0 : 1) || model.*member > kLargest) {
      throw_data("{}: {} is {}, allowed are 1 to {}", source, name, model.*member, kLargest);
    }
  }
  if (model.num_attention_heads % model.num_query_groups != 0) {
    throw_data("{}: num_attention_heads {} is no multiple of num_query_groups {}", source,
               model.num_attention_heads, model.num_query_groups);
  }
}

}  // namespace

std::string to_configuration(const ModelDescription& description) {
  const ModelConfig& model = description.model;
  Json json = Json::object();
  for (const auto& [name, member] : kIntegers) {
    json[name] = model.*member;
  }
  for (const auto& [name, member] : kFlags) {
    json[name] = model.*member;
  }
  for (const auto& [name, member] : kReals) {
    json[name] = model.*member;
  }
  for (const auto& [name, value] : kPositions) {
    if (model.position_embedding_type == value) {
      json["position_embedding_type"] = name;
    }
  }
  for (const auto& [name, value] : kNorms) {
    if (model.normalization == value) {
      json["normalization"] = name;
    }
  }
  if (model.rotary_seq_len_interpolation_factor) {
    json["rotary_seq_len_interpolation_factor"] = *model.rotary_seq_len_interpolation_factor;
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
  for (const auto& [name, member] : kIntegers) {
    options.read(name, model.*member);
  }
  for (const auto& [name, member] : kFlags) {
    options.read(name, model.*member);
  }
  for (const auto& [name, member] : kReals) {
    options.read(name, model.*member);
  }
  options.choose("position_embedding_type", kPositions, model.position_embedding_type);
  options.choose("normalization", kNorms, model.normalization);
  if (Index factor = 0; options.read("rotary_seq_len_interpolation_factor", factor)) {
    model.rotary_seq_len_interpolation_factor = factor;
  }
  if (model.max_position_embeddings == 0) {  // rotary models of a run may leave it out
    options.read("seq_length", model.max_position_embeddings);
  }
  model.activation = activation(options, model);
  model.params_dtype = options.flag("bf16")   ? DType::bf16
                       : options.flag("fp16") ? DType::f16
                                              : DType::f32;
  fill_derived(model);
  check_sizes(model, source);
  result.vocab_size = vocab_size(options);
  return result;
}

}  // namespace mpitron::convert
