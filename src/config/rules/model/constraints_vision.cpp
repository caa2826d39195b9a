#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules of models of images, --model vit: patches, positions, heads, layers and folders.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result image_patches(const Facts& f) {
  const VisionConfig& v = f.run.model.vision;
  if (!is_vision(f)) {
    return {};
  }
  const bool divides = v.patch > 0 && v.image_height > 0 && v.image_width > 0 &&
                       v.image_height % v.patch == 0 && v.image_width % v.patch == 0;
  if (!divides) {
    return Violation{
        fmt::format("{} x {} pixels in patches of {}", v.image_height, v.image_width, v.patch),
        fmt::format("{} | {}", nearest_multiples("img-h", v.image_height, v.patch),
                    nearest_multiples("img-w", v.image_width, v.patch))};
  }
  return v.channels == 3
             ? Result()
             : Violation{fmt::format("num_channels {}", v.channels), "--num-channels 3"};
}

/// The length follows from image and patch; one that was given must say the same.
Result image_positions(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!is_vision(f) ||
      (m.seq_length == m.vision.positions() && m.max_position_embeddings == m.vision.positions())) {
    return {};
  }
  return Violation{
      fmt::format("{} class tokens and {} patches, seq_length {}, "
                  "max_position_embeddings {}",
                  m.vision.class_tokens, m.vision.patches(), m.seq_length,
                  m.max_position_embeddings),
      fmt::format("--seq-length {0} --max-position-embeddings {0}", m.vision.positions())};
}

/// Classes and class tokens where there is a class head, a mask's share for inpainting.
Result image_heads(const Facts& f) {
  const VisionConfig& v = f.run.model.vision;
  if (!is_vision(f)) {
    return {};
  }
  if (v.task != VisionTask::inpaint) {
    return v.classes >= 1 && v.class_tokens >= 1
               ? Result()
               : Violation{fmt::format("{} classes, {} class tokens", v.classes, v.class_tokens),
                           "--num-classes 1000 --class-token-length 8"};
  }
  return v.image_height == v.image_width && v.mask_steps() >= 1 && v.mask_factor <= 1
             ? Result()
             : Violation{fmt::format("{} x {} pixels, mask_factor {} of {} patches", v.image_height,
                                     v.image_width, v.mask_factor, v.patches()),
                         "--mask-factor 1.0"};
}

Result image_layers(const Facts& f) {
  static constexpr std::array kOptions = {"swiglu",
                                          "quick_geglu",
                                          "geglu",
                                          "untie_embeddings_and_output_weights",
                                          "decoupled_lr",
                                          "position_embedding_type",
                                          "use_rotary_position_embeddings",
                                          "use_mup",
                                          "apply_residual_connection_post_layernorm",
                                          "fp8",
                                          "calculate_per_token_loss",
                                          "defer_embedding_wgrad_compute",
                                          "unigram_baseline",
                                          "sft",
                                          "use_cpu_initialization",
                                          "multiple_validation_sets"};
  if (!is_vision(f)) {
    return {};
  }
  const std::string given = given_of(f, kOptions);
  return given.empty() ? Result() : Violation{"given: " + given, ""};
}

Result image_folders(const Facts& f) {
  const DataConfig& d = f.run.data;
  if (!is_vision(f)) {
    return {};
  }
  const bool splits =
      !d.train_data_path.empty() || !d.valid_data_path.empty() || !d.test_data_path.empty();
  if (splits || d.data_path.size() > 3) {
    return Violation{splits ? "given per split" : fmt::format("{} folders", d.data_path.size()),
                     "--data-path TRAIN VALIDATION"};
  }
  const VisionConfig& v = f.run.model.vision;
  const auto is_share = [](double x) { return x > 0 && x <= 1; };
  return is_share(v.class_fraction) && is_share(v.image_fraction) && v.most_bad_images >= 0
             ? Result()
             : Violation{fmt::format("classes_fraction {}, data_per_class_fraction {}, "
                                     "skip_bad_images {}",
                                     v.class_fraction, v.image_fraction, v.most_bad_images),
                         "--classes-fraction 1.0 --data-per-class-fraction 1.0"};
}
constexpr std::array kVisionRules = std::to_array<Constraint>({
    {"E262", "image_patches",
     "img_h and img_w are positive multiples of patch_dim, num_channels == 3",
     "model img-h img-w patch-dim num-channels", "Images are RGB and cut into whole patches.",
     image_patches},
    {"E263", "image_positions",
     "seq_length == max_position_embeddings == class tokens + patches of an image",
     "model seq-length max-position-embeddings img-h img-w patch-dim class-token-length",
     "Leave the lengths out: they follow from the image.", image_positions},
    {"E264", "image_heads",
     "classify: num_classes >= 1, class_token_length >= 1; inpaint: img_h == img_w, "
     "mask_factor <= 1 and at least one patch masked",
     "model num-classes class-token-length mask-factor img-h img-w",
     "The head reads the first class token; without a masked patch there is no loss.", image_heads},
    {"E265", "image_layers", "--model vit excludes options of text models",
     "model swiglu quick-geglu geglu untie-embeddings-and-output-weights decoupled-lr "
     "position-embedding-type use-rotary-position-embeddings use-mup "
     "apply-residual-connection-post-layernorm fp8-format calculate-per-token-loss "
     "defer-embedding-wgrad-compute unigram-baseline sft use-cpu-initialization "
     "multiple-validation-sets",
     "The transformer of images has learned positions, LayerNorm or RMSNorm and plain layers.",
     image_layers},
    {"E266", "image_folders",
     "--model vit: --data-path TRAIN [VALIDATION], fractions in (0, 1], skip_bad_images >= 0",
     "model data-path train-data-path valid-data-path test-data-path classes-fraction "
     "data-per-class-fraction skip-bad-images",
     "The folders hold one folder of images for each class. As in the reference, of three "
     "folders the second is for validation and the third for training.",
     image_folders},
});

}  // namespace

std::span<const Constraint> vision_constraints() {
  return kVisionRules;
}

}  // namespace mpitron::config
