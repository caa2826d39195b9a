#include <algorithm>
#include <utility>

#include "convert/description/config_reading.h"
#include "convert/description/encoder_config.h"

// The config.json of Llama 4 that sees images: its language model in text_config, and in
// vision_config an encoder with the MLP that follows its shuffled patches. The encoder's norms and
// activations are constants of their code, whatever the file says.

namespace mpitron::convert {
namespace {

using config::VlmConfig;

constexpr const char *kLlama4Text = "llama4_text", *kLlama4Vision = "llama4_vision_model";
constexpr const char *kTextOfLlama4 = "text_config", *kVisionOfLlama4 = "vision_config";
/// Widths within the adapter and behind it, which are one here.
constexpr const char* kAdapterWidths[] = {"projector_input_dim", "projector_output_dim",
                                          "vision_output_dim"};
constexpr double kPatchTheta = 10000, kShuffleRatio = 0.5;
constexpr EncoderDefaults kLlama4Encoder{config::TowerKind::llama4, 14, "gelu", 1e-5};
constexpr std::pair<const char*, Index> kVisionSizes[] = {
    {"hidden_size", 768},        {"num_attention_heads", 16},   {"intermediate_size", 5632},
    {"image_size", 448},         {"num_hidden_layers", 34},     {"projector_input_dim", 4096},
    {"vision_output_dim", 7680}, {"projector_output_dim", 4096}};

/// Returns the encoder's part, filled up with what theirs has where the file is silent, and with
/// what their code has in any case.
JsonObject filled_vision_part(const JsonObject& whole) {
  JsonObject vision = whole.object(kVisionOfLlama4);
  for (const auto& [name, size] : kVisionSizes) {
    if (!vision.has(name)) {
      vision.set(name, size);
    }
  }
  vision.set("hidden_act", kLlama4Encoder.activation);
  vision.set("layer_norm_eps", kLlama4Encoder.norm_epsilon);
  return vision;
}

/// Checks what has one value here.
void require_usual_adapter(const JsonObject& vision, ConfigReading& reading) {
  const auto require = [&](bool met, const char* what) {
    reading.require(met, std::string("vision_config: ") + what);
  };
  const std::string type = vision.text("model_type", kLlama4Vision);
  require(type == kLlama4Vision, ("model_type " + type).c_str());
  require(vision.real("pixel_shuffle_ratio", kShuffleRatio) == kShuffleRatio,
          "pixel_shuffle_ratio");
  require(
      vision.object("rope_parameters").real("rope_theta", vision.real("rope_theta", kPatchTheta)) ==
          kPatchTheta,
      "rope_theta");
  require(!vision.flag("multi_modal_projector_bias", false), "multi_modal_projector_bias");
  require(vision.real("projector_dropout", 0) == 0, "projector_dropout");
  require(vision.size("num_channels", 3) == 3, "num_channels");
  require(vision.size("intermediate_size") == 4 * vision.size("hidden_size"),
          "intermediate_size that is not four times hidden_size, as wide as four patches");
  const bool alike = std::ranges::all_of(kAdapterWidths, [&](const char* width) {
    return vision.size(width) == vision.size(kAdapterWidths[0]);
  });
  require(alike, "projector_input_dim, projector_output_dim and vision_output_dim that differ");
}

}  // namespace

void read_llama4_images(ConfigReading& reading) {
  const JsonObject vision = filled_vision_part(reading.whole);
  const std::string type = reading.json.text("model_type", kLlama4Text);
  reading.require(type == kLlama4Text, "text_config: model_type " + type);
  require_usual_adapter(vision, reading);
  read_llama4(reading);
  reading.result.model.kind = config::ModelKind::vlm;
  VlmConfig vlm = read_encoder(vision, kLlama4Encoder, reading);
  vlm.class_token = false;
  vlm.pixel_shuffle = true;
  vlm.projector = config::ProjectorKind::adapter;
  vlm.projector_sizes = config::ProjectorSizes{.ffn_hidden_size = vision.size(kAdapterWidths[0])};
  vlm.image_tags = config::ImageTags::llama4;
  reading.require(vlm.grid() % 2 == 0, "vision_config: an odd number of patches along an edge");
  reading.require(vlm.tower_sizes->head_size % 4 == 0,
                  "vision_config: heads that are no multiple of 4 wide");
  reading.result.model.vlm = vlm;
}

void write_llama4_images(const ModelDescription& description, JsonObject& json) {
  const VlmConfig& vlm = *description.model.vlm;
  JsonObject text = json.object(kTextOfLlama4), vision = json.object(kVisionOfLlama4);
  text.set("model_type", kLlama4Text);
  write_common(description, text);
  write_llama4(description, text);
  write_encoder_sizes(vlm, vision);
  vision.set("model_type", kLlama4Vision);
  for (const char* width : kAdapterWidths) {
    vision.set(width, vlm.projector_sizes->ffn_hidden_size);
  }
  vision.set("pixel_shuffle_ratio", kShuffleRatio);
  vision.set("multi_modal_projector_bias", false);
  json.set(kTextOfLlama4, text);
  json.set(kVisionOfLlama4, vision);
  if (!json.has("image_token_index") && !json.has("image_token_id")) {
    json.set("image_token_index", description.stored_vocab_size() - 1);
  }
}

}  // namespace mpitron::convert
