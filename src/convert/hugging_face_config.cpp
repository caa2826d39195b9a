#include "convert/hugging_face_config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "convert/name_table.h"
#include "utils/error.h"

namespace mpitron::convert {
namespace {

using Json = nlohmann::ordered_json;
using config::ActivationKind;
using config::ModelConfig;
using config::Normalization;
using config::PositionEmbedding;

constexpr const char* kOriginal = "config.json";

/// Llama 3.1's rotary scaling as this program has it; the factor is free.
constexpr double kLlama3Low = 1, kLlama3High = 4;
constexpr Index kLlama3Context = 8192;

/// Sizes that the families call differently.
struct SizeNames {
  const char *layers, *hidden, *ffn, *heads, *positions, *epsilon, *activation;
};
constexpr SizeNames kGpt2{"n_layer",
                          "n_embd",
                          "n_inner",
                          "n_head",
                          "n_positions",
                          "layer_norm_epsilon",
                          "activation_function"};
constexpr SizeNames kLlama{
    "num_hidden_layers",       "hidden_size",  "intermediate_size", "num_attention_heads",
    "max_position_embeddings", "rms_norm_eps", "hidden_act"};

constexpr std::pair<const char*, const char*> kArchitectures[] = {{"gpt2", "GPT2LMHeadModel"},
                                                                  {"llama", "LlamaForCausalLM"},
                                                                  {"mistral", "MistralForCausalLM"},
                                                                  {"qwen2", "Qwen2ForCausalLM"}};

constexpr std::pair<const char*, ActivationKind> kActivations[] = {
    {"gelu_new", ActivationKind::gelu_tanh},
    {"gelu_pytorch_tanh", ActivationKind::gelu_tanh},
    {"gelu", ActivationKind::gelu_erf},
    {"silu", ActivationKind::silu},
    {"swish", ActivationKind::silu}};

constexpr std::pair<const char*, DType> kTypes[] = {
    {"float32", DType::f32}, {"bfloat16", DType::bf16}, {"float16", DType::f16}};

class ConfigReader {
 public:
  ConfigReader(const std::string& text, const std::string& source, Index divisible_by)
      : json_(Json::parse(text, nullptr, false)), source_(source) {
    if (!json_.is_object()) {
      throw_data("{}: no JSON object", source);
    }
    result_.model.make_vocab_size_divisible_by = divisible_by;
    result_.files[kOriginal] = text;
  }

  ModelDescription read() {
    result_.model_type = text("model_type");
    const std::vector<std::string_view> known = model_types();
    if (std::ranges::find(known, result_.model_type) == known.end()) {
      throw_data("{}: model_type {} is not known; there are {}", source_, result_.model_type,
                 fmt::join(known, ", "));
    }
    result_.model_type == "gpt2" ? read_gpt2() : read_llama();
    read_common();
    if (!problems_.empty()) {
      throw_data("{}: this program cannot compute such a model:\n  {}", source_,
                 fmt::join(problems_, "\n  "));
    }
    return std::move(result_);
  }

 private:
  const Json* find(const char* name) const {
    const auto found = json_.find(name);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  std::string text(const char* name, const std::string& otherwise = "") const {
    const Json* value = find(name);
    return value == nullptr     ? otherwise
           : value->is_string() ? value->get<std::string>()
                                : value->dump();
  }
  bool flag(const char* name, bool otherwise) const {
    const Json* value = find(name);
    if (value != nullptr && !value->is_boolean()) {
      throw_data("{}: {} is {}, expected true or false", source_, name, value->dump());
    }
    return value == nullptr ? otherwise : value->get<bool>();
  }
  static double number(const Json* value, double otherwise) {
    return value != nullptr && value->is_number() ? value->get<double>() : otherwise;
  }
  double real(const char* name, double otherwise) const { return number(find(name), otherwise); }
  /// A natural number; 0 where it is absent and `otherwise` says so.
  Index size(const char* name, Index otherwise = -1) const {
    constexpr double kLargest = 2147483648.0;
    const double value = real(name, static_cast<double>(otherwise));
    if (find(name) == nullptr && otherwise >= 0) {
      return otherwise;
    }
    if (!(value >= 1 && value <= kLargest) || value != std::floor(value)) {
      throw_data("{}: {} is {}, expected a number from 1 to {}", source_, name,
                 text(name, "absent"), static_cast<Index>(kLargest));
    }
    return static_cast<Index>(value);
  }
  void require(bool met, const std::string& problem) {
    if (!met) {
      problems_.push_back(problem);
    }
  }

  void read_sizes(const SizeNames& names) {
    ModelConfig& m = result_.model;
    m.num_layers = size(names.layers);
    m.hidden_size = size(names.hidden);
    m.num_attention_heads = size(names.heads);
    m.ffn_hidden_size = size(names.ffn, 4 * m.hidden_size);
    m.max_position_embeddings = size(names.positions);
    m.norm_epsilon = real(names.epsilon, m.norm_epsilon);
    const std::string activation = text(names.activation);
    const auto* found =
        std::ranges::find(kActivations, activation, &std::pair<const char*, ActivationKind>::first);
    require(found != std::end(kActivations), fmt::format("{} {}", names.activation, activation));
    m.activation = found != std::end(kActivations) ? found->second : ActivationKind::gelu_erf;
    m.kv_channels = size("head_dim", m.hidden_size / m.num_attention_heads);
  }

  void read_gpt2() {
    ModelConfig& m = result_.model;
    read_sizes(kGpt2);
    m.num_query_groups = m.num_attention_heads;
    m.position_embedding_type = PositionEmbedding::learned_absolute;
    m.normalization = Normalization::layer_norm;
    m.untie_embeddings_and_output_weights = !flag("tie_word_embeddings", true);
    m.hidden_dropout = real("resid_pdrop", m.hidden_dropout);
    m.attention_dropout = real("attn_pdrop", m.attention_dropout);
    require(!flag("scale_attn_by_inverse_layer_idx", false), "scale_attn_by_inverse_layer_idx");
    require(flag("scale_attn_weights", true), "scale_attn_weights false");
    require(!flag("add_cross_attention", false), "add_cross_attention");
    require(m.activation != ActivationKind::silu, "activation_function silu");
  }

  void read_llama() {
    ModelConfig& m = result_.model;
    read_sizes(kLlama);
    m.num_query_groups = size("num_key_value_heads", m.num_attention_heads);
    m.group_query_attention = m.num_query_groups != m.num_attention_heads;
    m.position_embedding_type = PositionEmbedding::rope;
    m.normalization = Normalization::rms_norm;
    m.gated_linear_unit = true;
    m.untie_embeddings_and_output_weights = !flag("tie_word_embeddings", false);
    m.hidden_dropout = 0;
    m.attention_dropout = real("attention_dropout", 0);
    m.add_bias_linear = flag("attention_bias", false);
    m.add_qkv_bias = m.add_bias_linear || result_.model_type == "qwen2";
    require(flag("mlp_bias", false) == m.add_bias_linear, "attention_bias and mlp_bias differ");
    require(m.activation == ActivationKind::silu, "a gated MLP with another function than silu");
    require(real("partial_rotary_factor", 1) == 1, "partial_rotary_factor");
    read_window();
    read_rotary();
  }

  /// Up to the width of a sliding window all keys are visible: as long as sequences are not longer,
  /// full attention computes the same.
  void read_window() {
    const bool used = result_.model_type == "mistral" ||
                      (result_.model_type == "qwen2" && flag("use_sliding_window", false));
    if (used && find("sliding_window") != nullptr) {
      Index& positions = result_.model.max_position_embeddings;
      positions = std::min(positions, size("sliding_window"));
    }
  }

  void read_rotary() {
    ModelConfig& m = result_.model;
    // Newer files have one object for all of it.
    const Json* parameters = find("rope_parameters");
    const Json* scaling = parameters != nullptr ? parameters : find("rope_scaling");
    const auto member = [&](const char* name) -> const Json* {
      const bool there = scaling != nullptr && scaling->is_object() && scaling->contains(name);
      return there ? &(*scaling)[name] : nullptr;
    };
    const double theta = number(member("rope_theta"), real("rope_theta", 10000));
    require(theta >= 1 && theta < 1e15 && theta == std::floor(theta),
            fmt::format("rope_theta {}: only whole numbers", theta));
    m.rotary_base = static_cast<Index>(std::clamp(theta, 1.0, 1e15));
    const Json* type = member("rope_type") != nullptr ? member("rope_type") : member("type");
    const std::string kind =
        type != nullptr && type->is_string() ? type->get<std::string>() : "default";
    const double factor = number(member("factor"), 1);
    if (kind == "llama3") {
      m.use_rope_scaling = true;
      m.rope_scaling_factor = factor;
      require(number(member("low_freq_factor"), 0) == kLlama3Low &&
                  number(member("high_freq_factor"), 0) == kLlama3High &&
                  number(member("original_max_position_embeddings"), 0) == kLlama3Context,
              "llama3 rotary scaling with other numbers than 1, 4 and 8192");
    } else if (kind == "linear") {
      require(factor >= 1 && factor < 1e9 && factor == std::floor(factor),
              "linear rotary scaling by a fraction");
      m.rotary_seq_len_interpolation_factor = static_cast<Index>(std::clamp(factor, 1.0, 1e9));
    } else {
      require(kind == "default", fmt::format("rotary scaling {}", kind));
    }
  }

  void read_common() {
    ModelConfig& m = result_.model;
    result_.vocab_size = size("vocab_size");
    m.padded_vocab_size =
        config::pad_vocab_size(result_.vocab_size, m.make_vocab_size_divisible_by, 1);
    m.init_method_std = real("initializer_range", m.init_method_std);
    m.seq_length = m.max_position_embeddings;
    m.softmax_scale = 1 / std::sqrt(static_cast<double>(std::max<Index>(m.kv_channels, 1)));
    require(m.kv_channels > 0 && m.num_attention_heads % m.num_query_groups == 0,
            "heads that cannot be shared out evenly");
    require(find("quantization_config") == nullptr, "quantized weights");
    const std::string type = text("torch_dtype", text("dtype", "float32"));
    const auto* found = std::ranges::find(kTypes, type, &std::pair<const char*, DType>::first);
    require(found != std::end(kTypes), fmt::format("torch_dtype {}", type));
    m.params_dtype = found != std::end(kTypes) ? found->second : DType::f32;
  }

  Json json_;
  const std::string& source_;
  ModelDescription result_;
  std::vector<std::string> problems_;
};

/// The config.json that the model came with, if it is of the same family.
Json original(const ModelDescription& description, const std::string& model_type) {
  const auto file = description.files.find(kOriginal);
  if (file == description.files.end()) {
    return Json::object();
  }
  Json json = Json::parse(file->second, nullptr, false);
  return json.is_object() && json.value("model_type", Json()) == model_type ? json : Json::object();
}

template <class Names, class Value>
const char* name_in(const Names& names, Value value) {
  for (const auto& [name, candidate] : names) {
    if (candidate == value) {
      return name;
    }
  }
  return "";
}

void write_sizes(const ModelConfig& m, const SizeNames& names, Json& json) {
  json[names.layers] = m.num_layers;
  json[names.hidden] = m.hidden_size;
  json[names.heads] = m.num_attention_heads;
  json[names.ffn] = m.ffn_hidden_size;
  json[names.epsilon] = m.norm_epsilon;
  json[names.activation] = name_in(kActivations, m.activation);
}

void write_rotary(const ModelConfig& m, Json& json) {
  Json scaling = nullptr;
  if (m.use_rope_scaling) {
    scaling = {{"rope_type", "llama3"},
               {"factor", m.rope_scaling_factor},
               {"low_freq_factor", kLlama3Low},
               {"high_freq_factor", kLlama3High},
               {"original_max_position_embeddings", kLlama3Context}};
  } else if (m.rotary_seq_len_interpolation_factor) {
    scaling = {{"rope_type", "linear"}, {"factor", *m.rotary_seq_len_interpolation_factor}};
  }
  json.erase("rope_parameters");
  json["rope_theta"] = static_cast<double>(m.rotary_base);
  json["rope_scaling"] = scaling;
}

void write_llama(const ModelConfig& m, const std::string& model_type, Json& json) {
  write_sizes(m, kLlama, json);
  json["num_key_value_heads"] = m.num_query_groups;
  json["head_dim"] = m.kv_channels;
  if (model_type == "llama") {
    json["attention_bias"] = json["mlp_bias"] = m.add_bias_linear;
  }
  // A window that shortened what we call the longest sequence stays with its original length.
  const Json& window = json.contains("sliding_window") ? json["sliding_window"] : Json();
  if (!window.is_number() || window != m.max_position_embeddings) {
    json[kLlama.positions] = m.max_position_embeddings;
  }
  if (model_type == "mistral" && !json.contains("sliding_window")) {
    json["sliding_window"] = nullptr;  // absent, it would be 4096
  }
  write_rotary(m, json);
}

}  // namespace

ModelDescription read_hugging_face_config(const std::string& json, const std::string& source,
                                          Index make_vocab_size_divisible_by) {
  return ConfigReader(json, source, make_vocab_size_divisible_by).read();
}

std::string write_hugging_face_config(const ModelDescription& description,
                                      const std::string& model_type) {
  const ModelConfig& m = description.model;
  Json json = original(description, model_type);
  for (const auto& [type, architecture] : kArchitectures) {
    if (model_type == type) {
      json["architectures"] = Json::array({architecture});
    }
  }
  json["model_type"] = model_type;
  if (model_type == "gpt2") {
    write_sizes(m, kGpt2, json);
    json[kGpt2.positions] = m.max_position_embeddings;
    json["resid_pdrop"] = json["embd_pdrop"] = m.hidden_dropout;
    json["attn_pdrop"] = m.attention_dropout;
  } else {
    write_llama(m, model_type, json);
  }
  json["vocab_size"] = description.stored_vocab_size();
  json["tie_word_embeddings"] = !m.untie_embeddings_and_output_weights;
  json["initializer_range"] = m.init_method_std;
  json.erase("dtype");
  json["torch_dtype"] = name_in(kTypes, m.params_dtype);
  return json.dump(2) + "\n";
}

}  // namespace mpitron::convert
