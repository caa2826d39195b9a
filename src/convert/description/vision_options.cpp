#include "convert/description/vision_options.h"

#include "config/resolve/resolve.h"

namespace mpitron::convert {
namespace {

/// What makes a difference to what the encoder and the projector compute.
constexpr const char* kVisionOptions[] = {"img_h",
                                          "patch_dim",
                                          "encoder_num_layers",
                                          "vision_model_type",
                                          "vision_projection_type",
                                          "disable_vision_class_token",
                                          "pixel_shuffle",
                                          "dataloader_seq_length",
                                          "use_tiling",
                                          "max_num_tiles",
                                          "use_thumbnail",
                                          "use_area_weighted_aspect_ratio",
                                          "use_tile_tags",
                                          "image_tag_type",
                                          "language_model_type",
                                          "vision_hidden_size",
                                          "vision_num_attention_heads",
                                          "vision_kv_channels",
                                          "vision_ffn_hidden_size",
                                          "vision_activation",
                                          "vision_norm_epsilon",
                                          "vision_projection_ffn_hidden_size"};

}  // namespace

config::VlmConfig read_vision(const StoredOptions& options) {
  config::OptionValues values;
  values.derive("model", "vlm", options.source());
  for (const char* name : kVisionOptions) {
    const std::string word = options.text(name);
    if (!word.empty() && word != "null") {
      values.derive(name, word, options.source());
    }
  }
  const config::VlmConfig vlm = *config::resolve_vlm(values);
  if (vlm.tower_layers < 1 || vlm.patch < 1 || vlm.tile < vlm.patch) {
    throw_data("{}: an encoder of {} layers over patches of {} in tiles of {} pixels",
               options.source(), vlm.tower_layers, vlm.patch, vlm.tile);
  }
  return vlm;
}

}  // namespace mpitron::convert
