#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules of models of images.
namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Those of a list that the user gave, separated by commas.
std::string given_of(const Facts& f, std::span<const char* const> dests) {
  std::vector<std::string> given;
  for (const char* dest : dests) {
    if (f.values.given(dest)) {
      given.emplace_back(dest);
    }
  }
  return fmt::format("{}", fmt::join(given, ", "));
}

bool is_vision(const Facts& f) {
  return f.run.model.family().samples == SampleKind::images;
}

/// Sizes of images concern both kinds of models of images.
Result options_of_images(const Facts& f) {
  static constexpr std::array kSizes = {"img_h", "img_w", "patch_dim"};
  static constexpr std::array kOptions = {"num_classes",        "num_channels",
                                          "classes_fraction",   "data_per_class_fraction",
                                          "head_lr_mult",       "vision_pretraining_type",
                                          "mask_type",          "mask_factor",
                                          "class_token_length", "skip_bad_images"};
  std::string given = is_vision(f) ? "" : given_of(f, kOptions);
  if (given.empty() && !is_vision(f) && !f.run.model.vlm) {
    given = given_of(f, kSizes);
  }
  return given.empty()
             ? Result()
             : Violation{fmt::format("--model {} is given {}", f.values.text("model"), given),
                         "--model vit"};
}

Result options_of_the_task(const Facts& f) {
  static constexpr std::array kClassification = {"num_classes", "class_token_length",
                                                 "head_lr_mult"};
  static constexpr std::array kInpainting = {"mask_type", "mask_factor"};
  if (!is_vision(f)) {
    return {};
  }
  const bool inpaints = f.run.model.vision.task == VisionTask::inpaint;
  const std::string given = inpaints ? given_of(f, kClassification) : given_of(f, kInpainting);
  return given.empty()
             ? Result()
             : Violation{fmt::format("given to {}: {}", inpaints ? "inpaint" : "classify", given),
                         inpaints ? "--vision-pretraining-type classify"
                                  : "--vision-pretraining-type inpaint"};
}

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

Result image_heads(const Facts& f) {
  const VisionConfig& v = f.run.model.vision;
  if (!is_vision(f)) {
    return {};
  }
  if (v.task == VisionTask::classify) {
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
                                          "untie_embeddings_and_output_weights",
                                          "decoupled_lr",
                                          "position_embedding_type",
                                          "use_rotary_position_embeddings",
                                          "use_mup",
                                          "apply_residual_connection_post_layernorm",
                                          "fp8",
                                          "calculate_per_token_loss",
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

Result options_of_vision_language(const Facts& f) {
  static constexpr std::array kOptions = {"vision_model_type",
                                          "vision_projection_type",
                                          "disable_vision_class_token",
                                          "pixel_shuffle",
                                          "freeze_LM",
                                          "freeze_ViT",
                                          "dataloader_seq_length"};
  const std::string given = given_of(f, kOptions);
  return f.run.model.vlm || given.empty()
             ? Result()
             : Violation{fmt::format("--model {} is given {}", f.values.text("model"), given),
                         "--model vlm"};
}

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
  const Index length = f.run.model.seq_length;
  return v->text_length >= 1 && v->positions() < length
             ? Result()
             : Violation{fmt::format("{} positions of an image, {} tokens of text, seq_length {}",
                                     v->positions(), v->text_length, length),
                         fmt::format("--seq-length {}", v->positions() + 64)};
}

Result plain_language_model(const Facts& f) {
  static constexpr std::array kOptions = {"context_parallel_size",
                                          "mtp_num_layers",
                                          "multi_latent_attention",
                                          "num_experts",
                                          "fp8",
                                          "use_cpu_initialization",
                                          "reset_attention_mask",
                                          "reset_position_ids",
                                          "use_mup",
                                          "sample_prompt",
                                          "mock_data",
                                          "enable_cuda_graph"};
  if (!f.run.model.vlm) {
    return {};
  }
  const std::string given = given_of(f, kOptions);
  return given.empty() ? Result() : Violation{"given: " + given, "--model gpt"};
}

}  // namespace

std::span<const Constraint> vision_constraints() {
  static constexpr std::array kRules = std::to_array<Constraint>({
      {"E260", "options_of_images", "options of images need --model vit",
       "model num-classes img-h img-w num-channels patch-dim classes-fraction "
       "data-per-class-fraction head-lr-mult vision-pretraining-type mask-type mask-factor "
       "class-token-length skip-bad-images",
       "pretrain-vision-classify and pretrain-vision-inpaint set --model vit; other models would "
       "ignore them.",
       options_of_images},
      {"E261", "options_of_the_task", "options of one task of images need that task",
       "vision-pretraining-type num-classes class-token-length head-lr-mult mask-type mask-factor",
       "Only a classifier has classes, class tokens and a head, only inpainting has masks.",
       options_of_the_task},
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
       "The head reads the first class token; without a masked patch there is no loss.",
       image_heads},
      {"E265", "image_layers", "--model vit excludes options of text models",
       "model swiglu quick-geglu untie-embeddings-and-output-weights decoupled-lr "
       "position-embedding-type use-rotary-position-embeddings use-mup "
       "apply-residual-connection-post-layernorm fp8-format calculate-per-token-loss "
       "unigram-baseline sft use-cpu-initialization multiple-validation-sets",
       "The transformer of images has learned positions, LayerNorm or RMSNorm and plain layers.",
       image_layers},
      {"E266", "image_folders",
       "--model vit: --data-path TRAIN [VALIDATION], fractions in (0, 1], skip_bad_images >= 0",
       "model data-path train-data-path valid-data-path test-data-path classes-fraction "
       "data-per-class-fraction skip-bad-images",
       "The folders hold one folder of images for each class. As in the reference, of three "
       "folders the second is for validation and the third for training.",
       image_folders},
      {"E267", "options_of_vision_language", "options of images in text need --model vlm",
       "model vision-model-type vision-projection-type disable-vision-class-token pixel-shuffle "
       "freeze-LM freeze-ViT dataloader-seq-length",
       "pretrain-vlm sets --model vlm; other models would ignore them.",
       options_of_vision_language},
      {"E268", "tiles_and_text",
       "--model vlm: square images of whole patches (an even number with --pixel-shuffle), "
       "encoder_num_layers >= 1, seq_length beyond the positions of an image",
       "model img-h img-w patch-dim encoder-num-layers seq-length dataloader-seq-length "
       "pixel-shuffle",
       "--seq-length counts the positions of text and images together.", tiles_and_text},
      {"E269", "plain_language_model", "--model vlm: a plain decoder, without context parallelism",
       "model context-parallel-size mtp-num-layers multi-latent-attention num-experts fp8-format "
       "use-cpu-initialization reset-attention-mask reset-position-ids use-mup "
       "sample-prompt mock-data enable-cuda-graph",
       "Images are put into dense layers of one kind, and samples come from files.",
       plain_language_model},
  });
  return kRules;
}

}  // namespace mpitron::config
