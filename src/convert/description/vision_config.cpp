#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "convert/description/config_reading.h"
#include "convert/description/encoder_config.h"
#include "convert/description/model_options.h"

// The config.json of image encoders: CLIP's and SigLIP's, alone or in front of a language model.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::TowerSizes;
using config::VlmConfig;

/// Words of config.json for activations; of several for one the first is written.
constexpr std::pair<const char*, ActivationKind> kClipActivations[] = {
    {"quick_gelu", ActivationKind::quick_gelu},
    {"gelu", ActivationKind::gelu_erf},
    {"gelu_pytorch_tanh", ActivationKind::gelu_tanh},
    {"gelu_new", ActivationKind::gelu_tanh}};

/// Encoders alone and, as vision_config, beside words.
struct EncoderType {
  const char *alone, *with_words, *architecture;
  const EncoderDefaults& defaults;
};
constexpr EncoderType kEncoderTypes[] = {
    {"clip_vision_model", "clip", "CLIPVisionModel", kClipDefaults},
    {"siglip_vision_model", "siglip", "SiglipVisionModel", kSiglipDefaults}};

const EncoderType* encoder_type(const std::string& word) {
  const auto* found = std::ranges::find_if(kEncoderTypes, [&](const EncoderType& type) {
    return word == type.alone || word == type.with_words;
  });
  return found == std::end(kEncoderTypes) ? nullptr : found;
}

const EncoderType& type_of(config::TowerKind kind) {
  return *std::ranges::find_if(kEncoderTypes,
                               [&](const EncoderType& type) { return type.defaults.kind == kind; });
}

/// Encoders of Qwen2-VL and Llama 4 are never alone.
bool stands_alone(config::TowerKind kind) {
  return std::ranges::any_of(kEncoderTypes,
                             [&](const EncoderType& type) { return type.defaults.kind == kind; });
}

/// Settings of a language model where its file leaves them out.
struct LanguageDefaults {
  const char *model_type, *activation_name, *activation;
  double norm_epsilon;
  std::vector<std::pair<const char*, Index>> sizes;
};
const LanguageDefaults kLanguages[] = {
    {"llama",
     "hidden_act",
     "silu",
     1e-6,
     {{"vocab_size", 32000},
      {"hidden_size", 4096},
      {"num_hidden_layers", 32},
      {"num_attention_heads", 32},
      {"intermediate_size", 11008},
      {"max_position_embeddings", 2048}}},
    {"gemma3_text",
     "hidden_activation",
     "gelu_pytorch_tanh",
     1e-6,
     {{"vocab_size", 262208},
      {"hidden_size", 2304},
      {"num_hidden_layers", 26},
      {"num_attention_heads", 8},
      {"num_key_value_heads", 4},
      {"intermediate_size", 9216},
      {"rope_theta", 1000000},
      {"max_position_embeddings", 131072}}},
    {"qwen2_vl_text",
     "hidden_act",
     "silu",
     1e-5,
     {{"vocab_size", 152064},
      {"hidden_size", 8192},
      {"num_hidden_layers", 80},
      {"num_attention_heads", 64},
      {"num_key_value_heads", 8},
      {"intermediate_size", 29568},
      {"rope_theta", 1000000},
      {"max_position_embeddings", 32768}}},
    {"llama4_text",
     "hidden_act",
     "silu",
     1e-5,
     {{"vocab_size", 202048},
      {"hidden_size", 5120},
      {"num_hidden_layers", 48},
      {"num_attention_heads", 40},
      {"num_key_value_heads", 8},
      {"head_dim", 128},
      {"intermediate_size", 8192},
      {"intermediate_size_mlp", 16384},
      {"num_local_experts", 16},
      {"rope_theta", 500000},
      {"attention_chunk_size", 8192},
      {"max_position_embeddings", 131072}}},
};

/// Returns those of a type; a Llama's where it is not known.
const LanguageDefaults& defaults_of(const std::string& model_type) {
  const auto* found = std::ranges::find_if(
      kLanguages, [&](const LanguageDefaults& each) { return model_type == each.model_type; });
  return found == std::end(kLanguages) ? kLanguages[0] : *found;
}

TowerSizes read_tower(const JsonObject& vision, const EncoderDefaults& defaults,
                      ConfigReading& reading) {
  TowerSizes sizes{.hidden_size = vision.size("hidden_size", 768),
                   .heads = vision.size("num_attention_heads", 12),
                   .ffn_hidden_size = vision.size("intermediate_size", 3072),
                   .norm_epsilon = vision.real("layer_norm_eps", defaults.norm_epsilon)};
  sizes.head_size = sizes.hidden_size / sizes.heads;
  sizes.activation = read_encoder_activation(vision, defaults.activation, reading);
  reading.require(sizes.head_size * sizes.heads == sizes.hidden_size,
                  "vision_config: heads that cannot be shared out evenly");
  return sizes;
}

}  // namespace

ActivationKind read_encoder_activation(const JsonObject& vision, const char* usual,
                                       ConfigReading& reading) {
  const std::string word = vision.text("hidden_act", usual);
  const auto* found =
      std::ranges::find_if(kClipActivations, [&](const auto& each) { return word == each.first; });
  const bool known = found != std::end(kClipActivations);
  reading.require(known, "vision_config: hidden_act " + word);
  return known ? found->second : ActivationKind::quick_gelu;
}

void write_encoder_activation(ActivationKind activation, JsonObject& vision) {
  const auto* found = std::ranges::find(kClipActivations, activation,
                                        &std::pair<const char*, ActivationKind>::second);
  vision.set("hidden_act", found->first);
}

VlmConfig read_encoder(const JsonObject& vision, const EncoderDefaults& defaults,
                       ConfigReading& reading) {
  const VlmConfig vlm{.tower = defaults.kind,
                      .tower_layers = vision.size("num_hidden_layers", 12),
                      .tile = vision.size("image_size", 224),
                      .patch = vision.size("patch_size", defaults.patch),
                      .tower_sizes = read_tower(vision, defaults, reading)};
  reading.require(vlm.tile % vlm.patch == 0, "vision_config: patches that do not fill an image");
  return vlm;
}

void write_encoder_sizes(const VlmConfig& vlm, JsonObject& vision) {
  const TowerSizes& sizes = *vlm.tower_sizes;
  vision.set("hidden_size", sizes.hidden_size);
  vision.set("num_attention_heads", sizes.heads);
  vision.set("intermediate_size", sizes.ffn_hidden_size);
  vision.set("num_hidden_layers", vlm.tower_layers);
  vision.set("image_size", vlm.tile);
  vision.set("patch_size", vlm.patch);
  write_encoder_activation(sizes.activation, vision);
}

void write_tower(const VlmConfig& vlm, JsonObject& vision) {
  vision.set("model_type", type_of(vlm.tower).alone);
  write_encoder_sizes(vlm, vision);
  vision.set("layer_norm_eps", vlm.tower_sizes->norm_epsilon);
}

JsonObject language_part(const JsonObject& whole) {
  if (!whole.has("text_config")) {
    return whole;
  }
  JsonObject text = whole.object("text_config");
  const LanguageDefaults& defaults = defaults_of(text.text("model_type"));
  for (const auto& [name, size] : defaults.sizes) {
    if (!text.has(name)) {
      text.set(name, size);
    }
  }
  if (!text.has("rms_norm_eps")) {
    text.set("rms_norm_eps", defaults.norm_epsilon);
  }
  if (!text.has(defaults.activation_name)) {
    text.set(defaults.activation_name, defaults.activation);
  }
  for (const char* type : {"torch_dtype", "dtype"}) {
    if (!text.has("torch_dtype") && whole.has(type)) {
      text.set("torch_dtype", whole.text(type).c_str());
    }
  }
  return text;
}

bool is_encoder_config(const JsonObject& json) {
  return encoder_type(json.text("model_type")) != nullptr;
}

void read_image_encoder(ConfigReading& reading) {
  const std::string word = reading.whole.text("model_type");
  const EncoderType& type = *encoder_type(word);
  const JsonObject vision =
      word == type.alone ? reading.whole : reading.whole.object("vision_config");
  reading.result.model.vlm = read_encoder(vision, type.defaults, reading);
}

std::string encoder_type_of(const ModelConfig& model) {
  return model.vlm && stands_alone(model.vlm->tower) ? type_of(model.vlm->tower).alone : "";
}

bool is_encoder_type(const std::string& model_type) {
  const EncoderType* const type = encoder_type(model_type);
  return type != nullptr && model_type == type->alone;
}

/// SigLIP's head, which pools all patches for words, is not part of what sees.
void write_image_encoder(const ModelDescription& description, JsonObject& json) {
  const VlmConfig& vlm = *description.model.vlm;
  json.set_list("architectures", {type_of(vlm.tower).architecture});
  write_tower(vlm, json);
  json.set("num_channels", Index{3});
  json.set("initializer_range", description.model.init_method_std);
  write_type(description.model, json);
  if (vlm.tower == config::TowerKind::siglip) {
    json.set("vision_use_head", false);
  }
}

}  // namespace mpitron::convert
