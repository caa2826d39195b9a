#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of models that see images between words, --model vlm.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result options_of_vision_language(const Facts& f) {
  static constexpr std::array kOptions = {"vision_model_type",
                                          "language_model_type",
                                          "vision_hidden_size",
                                          "vision_num_attention_heads",
                                          "vision_kv_channels",
                                          "vision_ffn_hidden_size",
                                          "vision_activation",
                                          "vision_norm_epsilon",
                                          "vision_projection_type",
                                          "vision_projection_ffn_hidden_size",
                                          "mm_tokens_per_image",
                                          "bidirectional_image_attention",
                                          "disable_vision_class_token",
                                          "pixel_shuffle",
                                          "freeze_LM",
                                          "freeze_ViT",
                                          "recompute_vision",
                                          "dataloader_seq_length",
                                          "use_tiling",
                                          "max_num_tiles",
                                          "use_thumbnail",
                                          "use_area_weighted_aspect_ratio",
                                          "use_tile_tags",
                                          "image_tag_type",
                                          "packing_buffer_size",
                                          "packing_seq_length",
                                          "use_loss_scaling",
                                          "tokenizer_prompt_format"};
  const std::string given = given_of(f, kOptions);
  return f.run.model.vlm || given.empty()
             ? Result()
             : Violation{fmt::format("--model {} is given {}", f.values.text("model"), given),
                         "--model vlm"};
}

/// Checks that images are whole patches and that a sequence has room for an image's tiles and one
/// token.
Result tiles_and_text(const Facts& f) {
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  if (!v) {
    return {};
  }
  const bool square = f.values.integer("img_h") == f.values.integer("img_w") && v->patch > 0 &&
                      v->tile > 0 && v->tile % v->patch == 0;
  if (!square || v->tower_layers < 1 || (v->pixel_shuffle && v->grid() % 2 != 0)) {
    return Violation{fmt::format("{} x {} pixels in patches of {}, {} layers of the encoder",
                                 f.values.integer("img_h"), f.values.integer("img_w"), v->patch,
                                 v->tower_layers),
                     "--img-h 336 --img-w 336 --patch-dim 14 --encoder-num-layers 24"};
  }
  const Index length = f.run.model.seq_length, positions = v->most_tiles() * v->positions();
  return v->text_length >= 1 && positions < length
             ? Result()
             : Violation{fmt::format("{} positions of an image, {} tokens of text, seq_length {}",
                                     positions, v->text_length, length),
                         fmt::format("--seq-length {}", positions + 64)};
}

/// Tags are tokens of their own, of which there are as many as kMostTags.
Result tiles_of_images(const Facts& f) {
  constexpr Index kMostTiles = 100, kMostTags = 6;
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  if (!v) {
    return {};
  }
  const Index tiles = f.values.integer("max_num_tiles");
  const bool unused = !f.values.flag("use_tiling") &&
                      (tiles != 1 || f.values.flag("use_thumbnail") || v->tiling.area_weighted);
  if (unused) {
    return Violation{"tiles are asked for without use_tiling", "--use-tiling"};
  }
  return tiles >= 1 && tiles <= (v->tiling.tags ? kMostTags : kMostTiles)
             ? Result()
             : Violation{
                   fmt::format("max_num_tiles {}{}", tiles,
                               v->tiling.tags ? ", use_tile_tags" : ""),
                   fmt::format("--max-num-tiles {}", v->tiling.tags ? kMostTags : kMostTiles)};
}

Result tower_sizes(const Facts& f) {
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  const Index t = f.run.parallel.tensor_model_parallel_size;
  if (!v || !v->tower_sizes) {
    return {};
  }
  const TowerSizes& sizes = *v->tower_sizes;
  const bool positive =
      sizes.hidden_size > 0 && sizes.heads > 0 && sizes.head_size > 0 && sizes.ffn_hidden_size > 0;
  if (positive && sizes.heads % t == 0 && sizes.ffn_hidden_size % t == 0) {
    return {};
  }
  return Violation{
      fmt::format("an encoder of width {}, {} heads of {}, inner width {}, over {} tensor ranks",
                  sizes.hidden_size, sizes.heads, sizes.head_size, sizes.ffn_hidden_size, t),
      nearest_multiples("vision-num-attention-heads", sizes.heads, t)};
}
constexpr std::array kVisionLanguageRules = std::to_array<Constraint>({
    {"E267", "options_of_vision_language", "options of images in text need --model vlm",
     "model vision-model-type language-model-type vision-hidden-size vision-num-attention-heads "
     "vision-kv-channels vision-ffn-hidden-size vision-activation vision-norm-epsilon "
     "vision-projection-type vision-projection-ffn-hidden-size mm-tokens-per-image "
     "bidirectional-image-attention disable-vision-class-token pixel-shuffle freeze-LM freeze-ViT "
     "recompute-vision dataloader-seq-length use-tiling max-num-tiles use-thumbnail "
     "use-area-weighted-aspect-ratio use-tile-tags image-tag-type packing-buffer-size "
     "packing-seq-length use-loss-scaling tokenizer-prompt-format",
     "pretrain-vlm sets --model vlm; other models would ignore them.", options_of_vision_language},
    {"E268", "tiles_and_text",
     "--model vlm: square images of whole patches (an even number with --pixel-shuffle), "
     "encoder_num_layers >= 1, seq_length beyond the positions of an image's tiles",
     "model img-h img-w patch-dim encoder-num-layers seq-length dataloader-seq-length "
     "pixel-shuffle max-num-tiles use-thumbnail",
     "--seq-length counts the positions of text and images together.", tiles_and_text},
    {"E272", "tiles_of_images",
     "1 <= max_num_tiles <= 100, 6 with --use-tile-tags; tiles need "
     "--use-tiling",
     "use-tiling max-num-tiles use-thumbnail use-area-weighted-aspect-ratio use-tile-tags",
     "Without --use-tiling an image is resized to one tile.", tiles_of_images},
    {"E273", "tower_sizes",
     "an encoder with sizes of its own: heads and inner width are multiples of the tensor ranks",
     "vision-hidden-size vision-num-attention-heads vision-kv-channels vision-ffn-hidden-size "
     "language-model-type tensor-model-parallel-size",
     "The encoder's layers are cut among the language model's tensor ranks.", tower_sizes},
});

}  // namespace

std::span<const Constraint> vision_language_constraints() {
  return kVisionLanguageRules;
}

}  // namespace mpitron::config
