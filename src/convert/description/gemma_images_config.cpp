#include <fmt/format.h>

#include "convert/description/config_reading.h"
#include "convert/description/encoder_config.h"

// The config.json of Gemma 3 that sees images: its language model in text_config, SigLIP's encoder
// in vision_config, and between them as many positions an image as mm_tokens_per_image says.

namespace mpitron::convert {
namespace {

using config::VlmConfig;

constexpr const char *kTextType = "gemma3_text", *kVisionType = "siglip_vision_model";
constexpr const char* kTokensPerImage = "mm_tokens_per_image";
constexpr Index kTokensOf = 256;

void require_type(const char* part, const JsonObject& json, const char* type,
                  ConfigReading& reading) {
  const std::string word = json.text("model_type", type);
  reading.require(word == type, fmt::format("{}: model_type {}", part, word));
}

}  // namespace

void read_gemma3_images(ConfigReading& reading) {
  const JsonObject &whole = reading.whole, vision = whole.object("vision_config");
  require_type("text_config", reading.json, kTextType, reading);
  require_type("vision_config", vision, kVisionType, reading);
  read_gemma3(reading);
  reading.result.model.kind = config::ModelKind::vlm;
  VlmConfig vlm = read_encoder(vision, kSiglipDefaults, reading);
  vlm.class_token = false;
  vlm.projector = config::ProjectorKind::pooled;
  vlm.pooled_positions = whole.size(kTokensPerImage, kTokensOf);
  vlm.sees_whole_images = true;
  vlm.image_tags = config::ImageTags::gemma3;
  reading.require(vlm.pooled_edge() > 0,
                  fmt::format("{} {}, which no squares of {} x {} patches are", kTokensPerImage,
                              vlm.pooled_positions, vlm.grid(), vlm.grid()));
  reading.result.model.vlm = vlm;
}

void write_gemma3_images(const ModelDescription& description, JsonObject& json) {
  const VlmConfig& vlm = *description.model.vlm;
  JsonObject text = json.object("text_config"), vision = json.object("vision_config");
  text.set("model_type", kTextType);
  write_common(description, text);
  write_gemma3(description, text);
  write_tower(vlm, vision);
  vision.set("vision_use_head", false);
  json.set("text_config", text);
  json.set("vision_config", vision);
  json.set(kTokensPerImage, vlm.pooled_positions);
  if (!json.has("image_token_index") && !json.has("image_token_id")) {
    json.set("image_token_index", description.stored_vocab_size() - 1);
  }
}

}  // namespace mpitron::convert
