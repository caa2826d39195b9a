#include "convert/description/model_description.h"

#include <cmath>
#include <utility>

#include "convert/description/stored_hybrid.h"
#include "convert/description/stored_options.h"

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::ModelKind;
using config::Normalization;

/// Options whose value is a member of ModelConfig; read and written by the same tables.
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
constexpr std::pair<const char*, Index ModelConfig::*> kMaybeUnknown[] = {
    {"padded_vocab_size", &ModelConfig::padded_vocab_size},
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
constexpr std::pair<const char*, Normalization> kNorms[] = {
    {"LayerNorm", Normalization::layer_norm}, {"RMSNorm", Normalization::rms_norm}};

constexpr std::pair<const char*, ModelKind> kKinds[] = {{"gpt", ModelKind::gpt},
                                                        {"mamba", ModelKind::mamba},
                                                        {"bert", ModelKind::bert},
                                                        {"t5", ModelKind::t5}};

ActivationKind activation(const StoredOptions& options, const ModelConfig& model) {
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
Index vocab_size(const StoredOptions& options) {
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
  model.decoder_seq_length = model.family().encoder_decoder ? model.seq_length : 0;
  model.softmax_scale =
      model.kv_channels > 0 ? 1 / std::sqrt(static_cast<double>(model.kv_channels)) : 0;
}

void check_model(const ModelConfig& model, const std::string& source) {
  check_sizes(kIntegers, model, 1, source);
  check_sizes(kMaybeUnknown, model, 0, source);
  if (model.num_attention_heads % model.num_query_groups != 0) {
    throw_data("{}: num_attention_heads {} is no multiple of num_query_groups {}", source,
               model.num_attention_heads, model.num_query_groups);
  }
}

}  // namespace

std::string to_configuration(const ModelDescription& description) {
  const ModelConfig& model = description.model;
  JsonObject json;
  write_choice("model", kKinds, model.kind, json);
  if (model.family().samples == config::SampleKind::sentence_pairs) {
    json.set(kBinaryHead, model.bert_binary_head);
  }
  write_all(kIntegers, model, json);
  write_all(kMaybeUnknown, model, json);
  write_all(kFlags, model, json);
  write_all(kReals, model, json);
  write_choice("normalization", kNorms, model.normalization, json);
  write_attention(model, json);
  if (model.moe) {
    write_experts(*model.moe, json);
  }
  write_hybrid(model, json);
  if (model.mtp_num_layers) {
    json.set("mtp_num_layers", *model.mtp_num_layers);
  }
  const bool tanh = model.activation == ActivationKind::gelu_tanh;
  json.set("squared_relu", model.activation == ActivationKind::squared_relu);
  json.set("bias_gelu_fusion", tanh && model.add_bias_linear);
  json.set("openai_gelu", tanh && !model.add_bias_linear);
  json.set("bf16", model.params_dtype == DType::bf16);
  json.set("fp16", model.params_dtype == DType::f16);
  if (description.vocab_size > 0) {
    json.set("vocab_size", description.vocab_size);
  }
  return json.dump();
}

ModelDescription from_configuration(const std::string& json, const std::string& source) {
  const StoredOptions options(json, source);
  ModelDescription result;
  ModelConfig& model = result.model;
  model.num_query_groups = 1;
  options.choose("model", kKinds, model.kind);
  options.read_all(kIntegers, model);
  options.read_all(kMaybeUnknown, model);
  options.read_all(kFlags, model);
  options.read_all(kReals, model);
  options.read(kBinaryHead, model.bert_binary_head);
  options.read("mtp_num_layers", model.mtp_num_layers);
  options.choose("normalization", kNorms, model.normalization);
  read_attention(options, model);
  if (model.max_position_embeddings == 0) {  // rotary models of a run may leave it out
    options.read("seq_length", model.max_position_embeddings);
  }
  model.activation = activation(options, model);
  model.params_dtype = options.flag("bf16")   ? DType::bf16
                       : options.flag("fp16") ? DType::f16
                                              : DType::f32;
  fill_derived(model);
  check_model(model, source);
  model.moe = read_experts(options, model);
  read_hybrid(options, model);
  result.vocab_size = vocab_size(options);
  return result;
}

}  // namespace mpitron::convert
