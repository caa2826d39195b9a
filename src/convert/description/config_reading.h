#pragma once
#include <string>
#include <vector>

#include "convert/description/json_object.h"
#include "convert/description/model_description.h"

namespace mpitron::convert {

/// A config.json, and what has been understood of it so far.
struct ConfigReading {
  const JsonObject& json;   // of the language model
  const JsonObject& whole;  // the same, but for models of more than words
  ModelDescription result = {};
  std::vector<std::string> problems = {};  // settings that this program cannot compute

  /// Notes a setting that this program cannot compute; all are told together.
  void require(bool met, const std::string& problem) {
    if (!met) {
      problems.push_back(problem);
    }
  }
};

/// Sizes that the families call differently; null positions: they follow from others.
struct SizeNames {
  const char *layers, *hidden, *ffn, *heads, *positions, *epsilon, *activation;
};

/// Reads the sizes; heads are as wide as the hidden size asks for. A number of layers that is known
/// already stays.
void read_sizes(const SizeNames& names, ConfigReading& reading);
/// Writes the sizes but for the number of positions.
void write_sizes(const config::ModelConfig& model, const SizeNames& names, JsonObject& json);

/// The type of the weights.
void read_type(ConfigReading& reading);
/// Writes it, by its older name alone.
void write_type(const config::ModelConfig& model, JsonObject& json);
/// What every family has: how weights began, and their type by its older name alone; with words,
/// the vocabulary and whether the output is tied. Nothing about 8- or 4-bit weights stays.
void write_common(const ModelDescription& description, JsonObject& json);

// config.json of decoders: what only they have, beside vocabulary and type.

/// Reads sizes by Llama's names, rotary positions, RMS norms, gated feed-forward layers, and
/// whether the output is tied.
void read_modern(ConfigReading& reading);
/// Reads a modern decoder whose positions turn all of a head.
void read_whole_heads(ConfigReading& reading);
/// Reads how many heads keys have, and how wide heads are.
void read_query_groups(ConfigReading& reading);
/// Writes what read_modern and read_query_groups read, but for the output.
void write_modern(const config::ModelConfig& model, JsonObject& json);
/// Read and write the base of rotary positions and how they are stretched; not YaRN.
void read_rotary(ConfigReading& reading);
/// Reads the same of an object on rotary positions.
void read_rotary(const JsonObject& rope, ConfigReading& reading);
void write_rotary(const config::ModelConfig& model, JsonObject& json);
/// Read and write the base alone, or with YaRN.
void read_yarn(ConfigReading& reading);
void write_yarn(const config::ModelConfig& model, JsonObject& json);

void read_gpt2(ConfigReading& reading);
void write_gpt2(const ModelDescription& description, JsonObject& json);

/// Read and write Llama, Mistral and Qwen2.
void read_llama(ConfigReading& reading);
void write_llama(const ModelDescription& description, JsonObject& json);

/// Read and write Qwen2-VL's language model, alone or with the encoder that stands in
/// vision_config.
void read_qwen2_vl_text(ConfigReading& reading);
void write_qwen2_vl_text(const ModelDescription& description, JsonObject& json);
void read_qwen2_vl(ConfigReading& reading);
void write_qwen2_vl(const ModelDescription& description, JsonObject& json);

void read_mixtral(ConfigReading& reading);
void write_mixtral(const ModelDescription& description, JsonObject& json);

/// Positions stretched by YaRN also scale the scores, as in DeepSeek's own code.
void read_deepseek_v2(ConfigReading& reading);
void write_deepseek_v2(const ModelDescription& description, JsonObject& json);

/// What a file means that does not tell its windows: all layers but every `period`-th have one.
struct WindowDefaults {
  Index window, period;
};
/// Read and write which layers see a window of keys alone.
void read_windows(ConfigReading& reading, const WindowDefaults& defaults);
void write_windows(const config::ModelConfig& model, const WindowDefaults& defaults,
                   JsonObject& json);

/// Limits of GPT-OSS's activation, which its code has as constants.
inline constexpr double kGptOssClamp = 7, kGptOssOffset = 1;
/// Read and write layers with and without a window, sinks, experts with biases.
void read_gpt_oss(ConfigReading& reading);
void write_gpt_oss(const ModelDescription& description, JsonObject& json);

/// Read and write Llama 4's language model, whose layers attend within chunks or scale queries
/// by position.
void read_llama4(ConfigReading& reading);
void write_llama4(const ModelDescription& description, JsonObject& json);
/// Read and write Gemma 2: four norms a layer, bounds of scores and logits.
void read_gemma2(ConfigReading& reading);
void write_gemma2(const ModelDescription& description, JsonObject& json);
/// Read and write Gemma 3's language model: four norms a layer, two kinds of rotary positions.
void read_gemma3(ConfigReading& reading);
void write_gemma3(const ModelDescription& description, JsonObject& json);

// config.json of models with an encoder: what only they have, beside vocabulary and type.

void read_megatron_bert(ConfigReading& reading);
void write_megatron_bert(const ModelDescription& description, JsonObject& json);

void read_t5(ConfigReading& reading);
void write_t5(const ModelDescription& description, JsonObject& json);

// config.json of models that see images.

/// Returns the part about the language model: all of the object, or the text_config of a model that
/// sees images, filled up with the defaults of its kind.
JsonObject language_part(const JsonObject& whole);

/// Whether it is that of CLIP or SigLIP, or of the image encoder of one alone.
bool is_encoder_config(const JsonObject& json);
/// Of such a one the image encoder, all of its layers.
void read_image_encoder(ConfigReading& reading);
/// The word for the model's image encoder as a model of its own; empty where it sees no images, or
/// where there is none.
std::string encoder_type_of(const config::ModelConfig& model);
/// Whether a word stands for an image encoder alone.
bool is_encoder_type(const std::string& model_type);
/// Describes the model's image encoder as a model of its own.
void write_image_encoder(const ModelDescription& description, JsonObject& json);

/// Read and write a LLaVA with CLIP's encoder, of whose layers only those are read behind which the
/// language model looks.
void read_llava(ConfigReading& reading);
void write_llava(const ModelDescription& description, JsonObject& json);

/// Read and write a Gemma 3 with SigLIP's encoder, whose patches are pooled.
void read_gemma3_images(ConfigReading& reading);
void write_gemma3_images(const ModelDescription& description, JsonObject& json);

/// Read and write a Llama 4 with its encoder, whose patches go through an adapter by fours.
void read_llama4_images(ConfigReading& reading);
void write_llama4_images(const ModelDescription& description, JsonObject& json);

/// Read and write a ViT that tells classes. Theirs names the classes, ours counts them.
void read_vit(ConfigReading& reading);
void write_vit(const ModelDescription& description, JsonObject& json);

}  // namespace mpitron::convert
