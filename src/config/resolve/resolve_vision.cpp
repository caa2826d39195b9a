#include "config/model_family.h"
#include "config/resolve/resolve.h"

// Options on models of images and on image encoders of language models, as VisionConfig and
// VlmConfig.

namespace mpitron::config {
namespace {

VisionTask task_of(const std::string& word) {
  return word == "inpaint" ? VisionTask::inpaint
         : word == "dino"  ? VisionTask::dino
                           : VisionTask::classify;
}

DinoConfig resolve_dino(const OptionValues& v) {
  return {.local_size = v.integer("dino_local_img_size"),
          .local_crops = v.integer("dino_local_crops_number"),
          .head_hidden_size = v.integer("dino_head_hidden_size"),
          .bottleneck_size = v.integer("dino_bottleneck_size"),
          .outputs = v.integer("dino_out_dim"),
          .fixed_norm = v.flag("dino_norm_last_layer"),
          .frozen_epochs = v.real("dino_freeze_last_layer"),
          .first_temperature = v.real("dino_warmup_teacher_temp"),
          .temperature = v.real("dino_teacher_temp"),
          .temperature_epochs = v.integer("dino_warmup_teacher_temp_epochs"),
          .iterations_per_epoch = v.integer("iter_per_epoch"),
          .iterations = v.maybe_integer("train_iters").value_or(0)};
}

ImageTags image_tags(const std::string& word) {
  return word == "nvlm"       ? ImageTags::nvlm
         : word == "internvl" ? ImageTags::internvl
         : word == "gemma3"   ? ImageTags::gemma3
         : word == "qwen2_vl" ? ImageTags::qwen2_vl
         : word == "llama4"   ? ImageTags::llama4
                              : ImageTags::none;
}

ProjectorKind projector(const std::string& word) {
  return word == "affine"    ? ProjectorKind::affine
         : word == "pooled"  ? ProjectorKind::pooled
         : word == "adapter" ? ProjectorKind::adapter
                             : ProjectorKind::mlp;
}

TowerKind tower_of(const std::string& word) {
  return word == "siglip"     ? TowerKind::siglip
         : word == "qwen2_vl" ? TowerKind::qwen2_vl
         : word == "llama4"   ? TowerKind::llama4
                              : TowerKind::clip;
}

/// Returns the sizes of CLIP's ViT-L/14, of SigLIP's shape-optimised model, Qwen2-VL's and Llama
/// 4's.
TowerSizes published_sizes(TowerKind tower) {
  if (tower == TowerKind::siglip) {
    return {.hidden_size = 1152,
            .heads = 16,
            .head_size = 72,
            .ffn_hidden_size = 4304,
            .activation = ActivationKind::gelu_tanh,
            .norm_epsilon = 1e-6};
  }
  if (tower == TowerKind::qwen2_vl) {
    return {.hidden_size = 1280,
            .heads = 16,
            .head_size = 80,
            .ffn_hidden_size = 5120,
            .norm_epsilon = 1e-6};
  }
  if (tower == TowerKind::llama4) {
    return {.hidden_size = 1408,
            .heads = 16,
            .head_size = 88,
            .ffn_hidden_size = 5632,
            .activation = ActivationKind::gelu_erf};
  }
  return {};
}

/// Returns the encoder's sizes: the published ones with each that is given replaced. Nothing: the
/// encoder has the language model's sizes.
std::optional<TowerSizes> resolve_tower(const OptionValues& v, TowerKind tower) {
  const std::optional<Index> hidden = v.maybe_integer("vision_hidden_size"),
                             heads = v.maybe_integer("vision_num_attention_heads");
  if (!v.has("language_model_type") && !hidden) {
    return {};
  }
  TowerSizes sizes = published_sizes(tower);
  if (hidden) {
    sizes.hidden_size = *hidden;
    sizes.ffn_hidden_size = 4 * *hidden;
  }
  sizes.heads = heads.value_or(sizes.heads);
  if (hidden || heads) {
    sizes.head_size = sizes.heads > 0 ? sizes.hidden_size / sizes.heads : 0;
  }
  sizes.head_size = v.maybe_integer("vision_kv_channels").value_or(sizes.head_size);
  sizes.ffn_hidden_size = v.maybe_integer("vision_ffn_hidden_size").value_or(sizes.ffn_hidden_size);
  sizes.norm_epsilon = v.maybe_real("vision_norm_epsilon").value_or(sizes.norm_epsilon);
  if (const auto word = v.maybe_text("vision_activation")) {
    sizes.activation = *word == "gelu"        ? ActivationKind::gelu_erf
                       : *word == "gelu_tanh" ? ActivationKind::gelu_tanh
                                              : ActivationKind::quick_gelu;
  }
  return sizes;
}

}  // namespace

VisionConfig resolve_vision(const OptionValues& v) {
  const VisionTask task = task_of(v.text("vision_pretraining_type"));
  return {
      .task = task,
      .image_height = v.integer("img_h"),
      .image_width = v.integer("img_w"),
      .channels = v.integer("num_channels"),
      .patch = v.integer("patch_dim"),
      .class_tokens = task == VisionTask::inpaint ? 0 : v.integer("class_token_length"),
      .classes = v.integer("num_classes"),
      .linear_head = v.text("class_head") == "linear",
      .class_fraction = v.real("classes_fraction"),
      .image_fraction = v.real("data_per_class_fraction"),
      .mask_shape = v.text("mask_type") == "row" ? MaskShape::last_rows : MaskShape::random_walk,
      .mask_factor = v.real("mask_factor"),
      .most_bad_images = v.integer("skip_bad_images"),
      .dino = task == VisionTask::dino ? std::optional(resolve_dino(v)) : std::nullopt};
}

/// Returns nothing for models that see no images.
std::optional<VlmConfig> resolve_vlm(const OptionValues& v) {
  if (family_of(v.text("model")).samples != SampleKind::image_texts) {
    return {};
  }
  const TowerKind tower = tower_of(v.text("vision_model_type"));
  const bool tiles = v.flag("use_tiling");
  VlmConfig vlm{
      .tower = tower,
      .projector = projector(v.text("vision_projection_type")),
      .tower_layers = v.maybe_integer("encoder_num_layers").value_or(0),
      .tile = v.integer("img_h"),
      .patch = v.integer("patch_dim"),
      .class_token = !v.flag("disable_vision_class_token"),
      .pixel_shuffle = v.flag("pixel_shuffle"),
      .pooled_positions = v.maybe_integer("mm_tokens_per_image").value_or(256),
      .sees_whole_images = v.flag("bidirectional_image_attention"),
      .text_length = v.maybe_integer("dataloader_seq_length").value_or(0),
      .tiling = {.most_tiles = tiles ? v.integer("max_num_tiles") : 1,
                 .thumbnail = tiles && v.flag("use_thumbnail"),
                 .area_weighted = v.flag("use_area_weighted_aspect_ratio"),
                 .tags = v.flag("use_tile_tags")},
      .image_tags = image_tags(v.maybe_text("image_tag_type").value_or("")),
      .tower_sizes = resolve_tower(v, tower),
      .freeze_language_model = v.flag("freeze_LM"),
      .freeze_tower = v.flag("freeze_ViT"),
      .recompute_tower = v.flag("recompute_vision"),
      // Replicas reduce their gradients, and gather parameters, in one order.
      .tower_always_runs = v.text("data_parallel_sharding_strategy").starts_with("optim_grads"),
      .weighs_turns = v.flag("use_loss_scaling"),
      .packing_window = v.maybe_integer("packing_buffer_size").value_or(0)};
  if (const auto ffn = v.maybe_integer("vision_projection_ffn_hidden_size")) {
    vlm.projector_sizes = ProjectorSizes{.ffn_hidden_size = *ffn};
  }
  return vlm;
}

}  // namespace mpitron::config
