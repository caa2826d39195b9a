#include "convert/names/hugging_face_config.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "convert/description/config_reading.h"
#include "convert/description/recurrent_config.h"
#include "convert/names/name_table.h"
#include "utils/error.h"

// Reads and writes config.json: finds the family by model_type, lets it read its own settings, then
// what all families share; problems are told together.

namespace mpitron::convert {
namespace {

constexpr const char* kOriginal = "config.json";

/// A family: its two names in config.json, and its reader and writer.
struct ConfigFormat {
  const char *model_type, *architecture;
  void (*read)(ConfigReading& reading);
  void (*write)(const ModelDescription& description, JsonObject& json);
};

constexpr ConfigFormat kFormats[] = {
    {"gpt2", "GPT2LMHeadModel", read_gpt2, write_gpt2},
    {"llama", "LlamaForCausalLM", read_llama, write_llama},
    {"mistral", "MistralForCausalLM", read_llama, write_llama},
    {"qwen2", "Qwen2ForCausalLM", read_llama, write_llama},
    {"qwen2_vl_text", "Qwen2VLTextModel", read_qwen2_vl_text, write_qwen2_vl_text},
    {"qwen2_vl", "Qwen2VLForConditionalGeneration", read_qwen2_vl, write_qwen2_vl},
    {"mixtral", "MixtralForCausalLM", read_mixtral, write_mixtral},
    {"deepseek_v2", "DeepseekV2ForCausalLM", read_deepseek_v2, write_deepseek_v2},
    {"gpt_oss", "GptOssForCausalLM", read_gpt_oss, write_gpt_oss},
    {"gemma2", "Gemma2ForCausalLM", read_gemma2, write_gemma2},
    {"gemma3_text", "Gemma3ForCausalLM", read_gemma3, write_gemma3},
    {"llama4_text", "Llama4ForCausalLM", read_llama4, write_llama4},
    {"qwen3_next", "Qwen3NextForCausalLM", read_qwen3_next, write_qwen3_next},
    {"mamba2", "Mamba2ForCausalLM", read_mamba2, write_mamba2},
    {"nemotron_h", "NemotronHForCausalLM", read_nemotron_h, write_nemotron_h},
    {"megatron-bert", "MegatronBertForPreTraining", read_megatron_bert, write_megatron_bert},
    {"t5", "T5ForConditionalGeneration", read_t5, write_t5},
    {"llava", "LlavaForConditionalGeneration", read_llava, write_llava},
    {"gemma3", "Gemma3ForConditionalGeneration", read_gemma3_images, write_gemma3_images},
    {"llama4", "Llama4ForConditionalGeneration", read_llama4_images, write_llama4_images},
    {"vit", "ViTForImageClassification", read_vit, write_vit}};

/// Families whose language model may be read alone, and what it is then.
constexpr std::pair<std::string_view, std::string_view> kWordsAlone[] = {
    {"qwen2_vl", "qwen2_vl_text"}, {"llama4", "llama4_text"}};

/// Reasons why families that one may ask for are not there.
constexpr std::pair<std::string_view, const char*> kNotHere[] = {
    {"bert",
     ". Layers of bert have their norms behind each branch, and those of this program, as "
     "Megatron's, in front: that layout is megatron-bert"}};

const ConfigFormat& format_of(const std::string& model_type, const std::string& source) {
  const auto* found = std::ranges::find(kFormats, model_type, &ConfigFormat::model_type);
  if (found == std::end(kFormats)) {
    const auto* known =
        std::ranges::find(kNotHere, model_type, &std::pair<std::string_view, const char*>::first);
    throw_data("{}: model_type {} is not known; there are {}{}", source, model_type,
               fmt::join(model_types(), ", "), known == std::end(kNotHere) ? "" : known->second);
  }
  return *found;
}

/// Reads what every family has: initialization, type, quantization; with words, the vocabulary.
void read_common(ConfigReading& reading) {
  config::ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  if (m.family().has_words()) {
    reading.result.vocab_size = json.size("vocab_size");
    m.padded_vocab_size =
        config::pad_vocab_size(reading.result.vocab_size, m.make_vocab_size_divisible_by, 1);
  }
  m.init_method_std = json.real("initializer_range", m.init_method_std);
  m.seq_length = m.max_position_embeddings;
  const auto channels = static_cast<double>(std::max<Index>(m.kv_channels, 1));
  m.softmax_scale = 1 / std::sqrt(m.query_pre_attn_scalar.value_or(channels));
  reading.require(m.kv_channels > 0 && m.num_attention_heads % m.num_query_groups == 0,
                  "heads that cannot be shared out evenly");
  const std::string method = reading.whole.object("quantization_config").text("quant_method");
  const bool stacked = stacked_experts(reading.result.model_type).has_value();
  // MXFP4 alone can be read exactly; other methods would have to be undone with a loss.
  reading.require(!reading.whole.has("quantization_config") || (stacked && method == "mxfp4"),
                  "quantized weights");
  read_type(reading);
}

/// Returns the config.json that the model came with, if it is of the same family; else an empty
/// object.
JsonObject original(const ModelDescription& description, const std::string& model_type) {
  const auto file = description.files.find(kOriginal);
  if (file == description.files.end()) {
    return {};
  }
  try {
    const JsonObject json(file->second, kOriginal);
    return json.text("model_type") == model_type ? json : JsonObject();
  } catch (const Error&) {  // of a foreign format
    return {};
  }
}

void refuse_problems(const ConfigReading& reading, const std::string& source) {
  if (!reading.problems.empty()) {
    throw_data("{}: this program cannot compute such a model:\n  {}", source,
               fmt::join(reading.problems, "\n  "));
  }
}

}  // namespace

ModelDescription read_encoder_config(const std::string& json, const std::string& source) {
  const JsonObject whole(json, source);
  ConfigReading reading{.json = whole, .whole = whole};
  read_image_encoder(reading);
  refuse_problems(reading, source);
  return std::move(reading.result);
}

ModelDescription read_hugging_face_config(const std::string& json, const std::string& source,
                                          Index make_vocab_size_divisible_by,
                                          const std::string& wanted) {
  const JsonObject whole(json, source), language = language_part(whole);
  ConfigReading reading{.json = language, .whole = whole};
  reading.result.model_type = whole.text("model_type");
  for (const auto& [with_images, words] : kWordsAlone) {
    if (wanted == words && reading.result.model_type == with_images) {
      reading.result.model_type = wanted;
    }
  }
  reading.result.model.make_vocab_size_divisible_by = make_vocab_size_divisible_by;
  reading.result.files[kOriginal] = json;
  format_of(reading.result.model_type, source).read(reading);
  read_common(reading);
  refuse_problems(reading, source);
  return std::move(reading.result);
}

std::string write_hugging_face_config(const ModelDescription& description,
                                      const std::string& model_type) {
  ModelDescription of_type = description;
  of_type.model_type = model_type;
  const ConfigFormat& format = format_of(model_type, kOriginal);
  JsonObject json = original(description, model_type);
  json.set_list("architectures", {format.architecture});
  json.set("model_type", format.model_type);
  format.write(of_type, json);
  write_common(description, json);
  return json.dump();
}

}  // namespace mpitron::convert
