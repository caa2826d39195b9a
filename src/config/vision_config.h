#pragma once
#include <cstdint>
#include <optional>

#include "config/residual_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The token that stands in a text for an image, or for one of its tiles where these have tags.
inline constexpr std::int64_t kImageToken = -200;

/// The task of an image model: classes, what is behind a mask, or what crops of an image share.
enum class VisionTask { classify, inpaint, dino };
/// The shape of the hole to be painted: cells of a random walk, or whole rows from the bottom.
enum class MaskShape { random_walk, last_rows };

/// Self-distillation without labels (Caron et al. 2021): a student sees all crops of an image, its
/// teacher, a moving average of it, the two large ones.
struct DinoConfig {
  Index local_size = 96;  // edge of a small crop, in pixels
  Index local_crops = 10;
  Index head_hidden_size = 2048, bottleneck_size = 256;
  Index outputs = 65536;
  bool fixed_norm = false;                              // of the last layer's rows
  double frozen_epochs = 1;                             // in which the last layer stays as it is
  double first_temperature = 0.04, temperature = 0.07;  // of the teacher
  Index temperature_epochs = 30;                        // from the first to the other
  Index iterations_per_epoch = 1250;
  Index iterations = 0;  // of the run

  Index crops() const { return 2 + local_crops; }
};

/// Images and what is learned of them, of `--model vit`.
struct VisionConfig {
  VisionTask task = VisionTask::classify;
  Index image_height = 224, image_width = 224, channels = 3;
  Index patch = 16;           // edge, in pixels
  Index class_tokens = 8;     // in front of the patches; none to inpaint
  Index classes = 1000;       // of the head
  bool linear_head = false;   // one layer, not two with tanh between them
  double class_fraction = 1;  // of the folder's classes, of training
  double image_fraction = 1;  // of each class's images, of training
  MaskShape mask_shape = MaskShape::random_walk;
  double mask_factor = 1;     // steps of the walk, or masked patches, over all patches
  Index most_bad_images = 0;  // that are replaced by others before a run ends
  std::optional<DinoConfig> dino = std::nullopt;  // with that task

  Index grid_height() const { return patch > 0 ? image_height / patch : 0; }
  Index grid_width() const { return patch > 0 ? image_width / patch : 0; }
  Index patches() const { return grid_height() * grid_width(); }
  /// Numbers of a patch, in the order row, column, channel.
  Index patch_width() const { return patch * patch * channels; }
  /// Positions of the transformer: class tokens in front, then patches by rows.
  Index positions() const { return class_tokens + patches(); }
  /// Numbers of an image, and of all crops of one.
  Index pixels() const { return channels * image_height * image_width; }
  Index crop_pixels() const {
    return 2 * pixels() + dino->local_crops * channels * dino->local_size * dino->local_size;
  }
  /// Returns the sizes of small crops, with the same class tokens in front.
  VisionConfig of_local_crops() const {
    VisionConfig crops = *this;
    crops.image_height = crops.image_width = dino->local_size;
    return crops;
  }
  Index mask_steps() const {
    return static_cast<Index>(mask_factor * static_cast<double>(patches()));
  }
};

/// Image encoders, by the models that have them.
enum class TowerKind { clip, siglip, qwen2_vl, llama4 };
/// The place of an encoder's class token among its patches.
enum class ClassToken { none, in_front, behind };
/// What an encoder has around its layers, and how its patches know their places.
struct TowerParts {
  ClassToken class_token = ClassToken::none;
  bool patch_bias = false;
  bool learned_positions = false;
  bool rotates = false;  // patches turn by their rows and columns
  bool norm_in_front = false, norm_behind = false;
};
constexpr TowerParts parts_of(TowerKind kind) {
  switch (kind) {
    case TowerKind::siglip:
      return {.patch_bias = true, .learned_positions = true, .norm_behind = true};
    case TowerKind::qwen2_vl:
      return {.rotates = true, .norm_behind = true};
    case TowerKind::llama4:
      return {.class_token = ClassToken::behind,
              .learned_positions = true,
              .rotates = true,
              .norm_in_front = true,
              .norm_behind = true};
    case TowerKind::clip:
      break;
  }
  return {.class_token = ClassToken::in_front, .learned_positions = true, .norm_in_front = true};
}

/// The way from the encoder's width to the language model's: an MLP, one linear layer, means of
/// neighbouring patches, a norm and one linear layer (Gemma 3), or an MLP with its activation
/// behind both layers and one linear layer, all without biases (Llama 4).
enum class ProjectorKind { mlp, affine, pooled, adapter };
/// Texts around an image: <Image> and </Image>, <img> and </img>, <start_of_image> and
/// <end_of_image> between empty lines, <|vision_start|> and <|vision_end|>,
/// <|image_start|><|image|> and <|image_end|>.
enum class ImageTags { none, nvlm, internvl, gemma3, qwen2_vl, llama4 };

/// Sizes of an image encoder that has not the language model's; its layers have LayerNorm and
/// biases.
struct TowerSizes {
  Index hidden_size = 1024, heads = 16, head_size = 64, ffn_hidden_size = 4096;
  ActivationKind activation = ActivationKind::quick_gelu;
  double norm_epsilon = 1e-5;
};

/// Sizes of a projector that is not made like the language model's MLPs.
struct ProjectorSizes {
  Index ffn_hidden_size = 0;
  ActivationKind activation = ActivationKind::gelu_erf;
};

/// The division of a large image into tiles.
struct TilingConfig {
  Index most_tiles = 1;        // but for the thumbnail
  bool thumbnail = false;      // behind several tiles: the whole image
  bool area_weighted = false;  // a grid's area counts, too, not its shape alone
  bool tags = false;           // a text in front of every tile
};

/// A GPT that sees images (Liu et al. 2023): a tower over tiles, a projector, and what it makes of
/// them between the embedded tokens.
struct VlmConfig {
  TowerKind tower = TowerKind::clip;
  ProjectorKind projector = ProjectorKind::mlp;
  Index tower_layers = 0;
  Index tile = 336;  // edge in pixels
  Index patch = 14;
  bool class_token = true;         // stays behind the tower
  bool pixel_shuffle = false;      // four positions become one of four times the width
  Index pooled_positions = 256;    // of a tile, with that projector
  bool sees_whole_images = false;  // positions of images side by side see each other
  Index text_length = 0;           // tokens of a sample, an image counts as one
  TilingConfig tiling;
  ImageTags image_tags = ImageTags::none;
  std::optional<TowerSizes> tower_sizes = std::nullopt;          // else the language model's
  std::optional<ProjectorSizes> projector_sizes = std::nullopt;  // else the language model's
  bool freeze_language_model = false;
  bool freeze_tower = false;
  bool recompute_tower = false;
  bool tower_always_runs = false;  // also without images: all replicas share its gradients
  bool weighs_turns = false;       // a turn's loss counts the square root of its length
  Index packing_window = 0;        // samples that may share a row; 0: one sample a row

  Index grid() const { return patch > 0 ? tile / patch : 0; }
  Index patches() const { return grid() * grid(); }
  /// Numbers of a tile: channel, row, column.
  Index pixels() const { return 3 * tile * tile; }
  TowerParts parts() const { return parts_of(tower); }
  Index tower_tokens() const { return parts().class_token == ClassToken::none ? 0 : 1; }
  Index tower_positions() const { return patches() + tower_tokens(); }
  /// Positions that the language model sees of a tile.
  Index positions() const {
    return projector == ProjectorKind::pooled ? pooled_positions
           : pixel_shuffle                    ? patches() / 4
                                              : patches() + (class_token ? tower_tokens() : 0);
  }
  /// Positions along the edge of a tile, where they are a square of merged or pooled patches.
  Index seen_edge() const {
    const Index merged = projector == ProjectorKind::pooled ? pooled_edge() : pixel_shuffle ? 2 : 1;
    return merged > 0 ? grid() / merged : 0;
  }
  /// Patches along the edge of the squares that are pooled; 0 where they do not fill a tile.
  Index pooled_edge() const {
    for (Index edge = 1; edge <= grid(); ++edge) {
      if (edge * edge * pooled_positions == patches() && grid() % edge == 0) {
        return edge;
      }
    }
    return 0;
  }
  /// Tiles of an image, at most, with the thumbnail.
  Index most_tiles() const {
    return tiling.most_tiles + (tiling.thumbnail && tiling.most_tiles > 1 ? 1 : 0);
  }
};

}  // namespace mpitron::config
