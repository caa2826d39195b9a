#include <cmath>

#include "convert/description/config_reading.h"
#include "convert/description/encoder_config.h"

// The config.json of Qwen2-VL: Qwen2 whose rotary frequencies are shared out to time, height and
// width, and an encoder in vision_config. Older files are one object, newer ones have a
// text_config. No file says how large images are, which theirs keep as they come: ours have one
// size, image_size of vision_config.

namespace mpitron::convert {
namespace {

using config::VlmConfig;

constexpr const char *kTextPart = "text_config", *kAxes = "mrope_section",
                     *kTied = "tie_word_embeddings", *kVision = "vision_config";
constexpr Index kImageSize = 224, kMerged = 2, kFrames = 2;
constexpr double kTheta = 10000;  // of the encoder's rotary positions

/// Returns the object on rotary positions, and the base of frequencies beside or inside of it.
JsonObject rope_of_axes(const JsonObject& json) {
  return json.object(json.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
}

/// Checks what has one value here.
void require_usual(const JsonObject& vision, const config::ModelConfig& model,
                   ConfigReading& reading) {
  reading.require(vision.size("spatial_merge_size", kMerged) == kMerged,
                  "vision_config: spatial_merge_size");
  reading.require(vision.size("temporal_patch_size", kFrames) == kFrames,
                  "vision_config: temporal_patch_size");
  reading.require(vision.object("rope_parameters").real("rope_theta", kTheta) == kTheta,
                  "vision_config: rope_theta");
  reading.require(vision.size("hidden_size", model.hidden_size) == model.hidden_size,
                  "vision_config: a hidden_size that is not the language model's");
}

config::TowerSizes sizes_of(const JsonObject& vision, ConfigReading& reading) {
  config::TowerSizes sizes{.hidden_size = vision.size("embed_dim", 1280),
                           .heads = vision.size("num_heads", 16),
                           .activation = read_encoder_activation(vision, "quick_gelu", reading),
                           .norm_epsilon = kQwen2VlEpsilon};
  const double ratio = vision.real("mlp_ratio", 4);
  reading.require(ratio >= 1 && ratio < 100 && ratio == std::floor(ratio),
                  "vision_config: mlp_ratio");
  sizes.ffn_hidden_size = sizes.hidden_size * static_cast<Index>(ratio);
  sizes.head_size = sizes.hidden_size / sizes.heads;
  reading.require(sizes.head_size * sizes.heads == sizes.hidden_size && sizes.head_size % 4 == 0,
                  "vision_config: heads that are no multiple of 4 wide");
  return sizes;
}

}  // namespace

void read_qwen2_vl(ConfigReading& reading) {
  read_qwen2_vl_text(reading);
  config::ModelConfig& m = reading.result.model;
  const JsonObject vision = reading.whole.object(kVision);
  require_usual(vision, m, reading);
  m.kind = config::ModelKind::vlm;
  VlmConfig vlm{.tower = config::TowerKind::qwen2_vl,
                .tower_layers = vision.size("depth", 32),
                .tile = vision.size("image_size", kImageSize),
                .patch = vision.size("patch_size", 14),
                .pixel_shuffle = true,
                .image_tags = config::ImageTags::qwen2_vl,
                .tower_sizes = sizes_of(vision, reading)};
  vlm.projector_sizes =
      config::ProjectorSizes{.ffn_hidden_size = kMerged * kMerged * vlm.tower_sizes->hidden_size};
  reading.require(vlm.tile % (kMerged * vlm.patch) == 0,
                  "vision_config: image_size that is no multiple of two patches");
  m.vlm = vlm;
}

void read_qwen2_vl_text(ConfigReading& reading) {
  config::ModelConfig& m = reading.result.model;
  read_whole_heads(reading);
  read_query_groups(reading);
  m.add_bias_linear = false;
  m.add_qkv_bias = true;
  m.untie_embeddings_and_output_weights =
      !reading.json.flag(kTied, false) && !reading.whole.flag(kTied, false);
  reading.require(!reading.json.flag("use_sliding_window", false), "use_sliding_window");
  JsonObject rope = rope_of_axes(reading.json);
  for (const double part : rope.reals(kAxes)) {
    reading.require(part >= 1 && part < 1e6 && part == std::floor(part), "mrope_section");
    m.mrope_section.push_back(static_cast<Index>(std::fmin(std::fmax(part, 0), 1e6)));
  }
  reading.require(m.mrope_section.size() == 3, "no mrope_section of three numbers");
  for (const char* type : {"rope_type", "type"}) {
    if (rope.text(type) == "mrope") {
      rope.set(type, "default");
    }
  }
  read_rotary(rope, reading);
}

/// Writes the spelling that all releases read, where the original has its language model.
void write_qwen2_vl_text(const ModelDescription& description, JsonObject& json) {
  const config::ModelConfig& m = description.model;
  const bool nested = json.has(kTextPart);
  JsonObject text = nested ? json.object(kTextPart) : json;
  write_modern(m, text);
  text.erase("rope_parameters");
  text.set("rope_theta", static_cast<double>(m.rotary_base));
  JsonObject rope;
  rope.set("type", "mrope");
  rope.set_list(kAxes, m.mrope_section);
  text.set("rope_scaling", rope);
  text.set("use_sliding_window", false);
  if (!nested) {
    json = text;
    return;
  }
  text.set("model_type", "qwen2_vl_text");
  write_common(description, text);
  json.set(kTextPart, text);
}

void write_qwen2_vl(const ModelDescription& description, JsonObject& json) {
  write_qwen2_vl_text(description, json);
  const VlmConfig& vlm = *description.model.vlm;
  const config::TowerSizes& sizes = *vlm.tower_sizes;
  JsonObject vision = json.object(kVision);
  vision.set("depth", vlm.tower_layers);
  vision.set("embed_dim", sizes.hidden_size);
  vision.set("num_heads", sizes.heads);
  vision.set("mlp_ratio", sizes.ffn_hidden_size / sizes.hidden_size);
  vision.set("hidden_size", description.model.hidden_size);
  vision.set("patch_size", vlm.patch);
  vision.set("spatial_merge_size", kMerged);
  vision.set("temporal_patch_size", kFrames);
  vision.set("image_size", vlm.tile);
  write_encoder_activation(sizes.activation, vision);
  json.set(kVision, vision);
  if (!json.has("image_token_id")) {
    json.set("image_token_id", description.stored_vocab_size() - 1);
  }
}

}  // namespace mpitron::convert
