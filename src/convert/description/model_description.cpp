#include "convert/description/model_description.h"

#include <utility>

#include "config/parse/stored_model.h"
#include "convert/description/model_options.h"
#include "utils/error.h"

// A model's description as the options of a run, and back: tables of members by option name, and
// what conversions may change (vocabulary, types), which is written in any case.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::Normalization;

/// Options whose value is an integer member of ModelConfig; flags and reals follow.
constexpr std::pair<const char*, Index ModelConfig::*> kIntegers[] = {
    {"num_layers", &ModelConfig::num_layers},
    {"hidden_size", &ModelConfig::hidden_size},
    {"ffn_hidden_size", &ModelConfig::ffn_hidden_size},
    {"num_attention_heads", &ModelConfig::num_attention_heads},
    {"num_query_groups", &ModelConfig::num_query_groups},
    {"kv_channels", &ModelConfig::kv_channels},
    {"max_position_embeddings", &ModelConfig::max_position_embeddings},
    {"make_vocab_size_divisible_by", &ModelConfig::make_vocab_size_divisible_by},
    {"rotary_base", &ModelConfig::rotary_base},
};
constexpr const char* kBinaryHead = "bert_binary_head";
constexpr std::pair<const char*, bool ModelConfig::*> kFlags[] = {
    {"group_query_attention", &ModelConfig::group_query_attention},
    {"untie_embeddings_and_output_weights", &ModelConfig::untie_embeddings_and_output_weights},
    {"add_bias_linear", &ModelConfig::add_bias_linear},
    {"add_qkv_bias", &ModelConfig::add_qkv_bias},
    {"qk_layernorm", &ModelConfig::qk_layernorm},
    {"rotary_interleaved", &ModelConfig::rotary_interleaved},
    {"use_rope_scaling", &ModelConfig::use_rope_scaling},
    {"apply_layernorm_1p", &ModelConfig::apply_layernorm_1p},
};
constexpr std::pair<const char*, double ModelConfig::*> kReals[] = {
    {"rotary_percent", &ModelConfig::rotary_percent},
    {"rope_scaling_factor", &ModelConfig::rope_scaling_factor},
    {"rope_scaling_high_freq_factor", &ModelConfig::rope_scaling_high_freq_factor},
    {"norm_epsilon", &ModelConfig::norm_epsilon},
    {"attention_dropout", &ModelConfig::attention_dropout},
    {"hidden_dropout", &ModelConfig::hidden_dropout},
    {"init_method_std", &ModelConfig::init_method_std},
};
/// Options of those that a model of images is not given.
constexpr const char* kOfWords[] = {"make_vocab_size_divisible_by",
                                    "rotary_base",
                                    "untie_embeddings_and_output_weights",
                                    "rotary_interleaved",
                                    "use_rope_scaling",
                                    "rotary_percent",
                                    "rope_scaling_factor",
                                    "rope_scaling_high_freq_factor",
                                    "position_embedding_type",
                                    "swiglu"};
constexpr std::pair<const char*, Normalization> kNorms[] = {
    {"LayerNorm", Normalization::layer_norm}, {"RMSNorm", Normalization::rms_norm}};

/// Refuses descriptions that say too little or too much: sizes out of range, models without another
/// form.
void check_model(const ModelConfig& model, const std::string& source) {
  if (!model.family().has_words() && model.vision.task != config::VisionTask::classify) {
    throw_data("{}: the model is a {} that tells no classes, which has no other form", source,
               model.family().title);
  }
  constexpr Index kLargest = Index{1} << 31;
  for (const auto& [name, member] : kIntegers) {
    if (model.*member < 1 || model.*member > kLargest) {
      throw_data("{}: {} is {}, allowed are 1 to {}", source, name, model.*member, kLargest);
    }
  }
}

/// Writes the options of a model that was not read from options.
void write_model(const ModelConfig& model, JsonObject& json) {
  json.set("model", model.family().name);
  if (model.family().samples == config::SampleKind::sentence_pairs) {
    json.set(kBinaryHead, model.bert_binary_head);
  }
  write_all(kIntegers, model, json);
  write_all(kFlags, model, json);
  write_all(kReals, model, json);
  write_choice("normalization", kNorms, model.normalization, json);
  write_attention(model, json);
  write_limits(model, json);
  write_gemma(model, json);
  if (model.moe) {
    write_experts(*model.moe, json);
  }
  write_hybrid(model, json);
  if (model.vlm) {
    write_vision(*model.vlm, json);
  } else if (!model.family().has_words()) {
    write_images(model.vision, json);
  }
  if (model.mtp_num_layers) {
    json.set("mtp_num_layers", *model.mtp_num_layers);
  }
  if (!model.family().has_words()) {
    for (const char* option : kOfWords) {
      json.erase(option);
    }
  }
  const bool tanh = model.activation == ActivationKind::gelu_tanh && !model.gated_linear_unit;
  json.set("squared_relu", model.activation == ActivationKind::squared_relu);
  json.set("bias_gelu_fusion", tanh && model.add_bias_linear);
  json.set("openai_gelu", tanh && !model.add_bias_linear);
}

}  // namespace

/// Writes in any case what a conversion may change.
std::string to_configuration(const ModelDescription& description) {
  const ModelConfig& model = description.model;
  JsonObject json;
  if (description.options.empty()) {
    write_model(model, json);
  } else {
    json = JsonObject(description.options, "options");
  }
  if (model.family().has_words()) {
    json.set("padded_vocab_size", model.padded_vocab_size);
  }
  json.set("bf16", model.params_dtype == DType::bf16);
  json.set("fp16", model.params_dtype == DType::f16);
  if (model.family().has_words() && description.vocab_size > 0) {
    json.set("vocab_size", description.vocab_size);
    json.erase("tokenizer_type");  // whose end of document is counted
  }
  return json.dump();
}

ModelDescription from_configuration(const std::string& json, const std::string& source) {
  config::StoredModel stored = config::read_stored_model(json, source);
  ModelDescription result{.model = std::move(stored.model),
                          .vocab_size = stored.vocab_size,
                          .tokenizer = std::move(stored.tokenizer),
                          .options = std::move(stored.options)};
  ModelConfig& model = result.model;
  if (model.max_position_embeddings == 0) {  // rotary models of a run may leave it out
    model.max_position_embeddings = model.seq_length;
  }
  model.seq_length = model.max_position_embeddings;
  model.decoder_seq_length = model.family().encoder_decoder ? model.seq_length : 0;
  check_model(model, source);
  return result;
}

}  // namespace mpitron::convert
