#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules of the options that a task of vision takes, DINO among them.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Refuses options of images given to other models; sizes of images concern both kinds of models
/// that see images.
Result options_of_images(const Facts& f) {
  static constexpr std::array kShared = {"img_h", "img_w", "patch_dim", "skip_bad_images"};
  static constexpr std::array kOptions = {"num_classes",
                                          "num_channels",
                                          "classes_fraction",
                                          "data_per_class_fraction",
                                          "head_lr_mult",
                                          "vision_pretraining_type",
                                          "mask_type",
                                          "mask_factor",
                                          "class_token_length",
                                          "class_head",
                                          "drop_path_rate",
                                          "iter_per_epoch",
                                          "dino_local_img_size",
                                          "dino_local_crops_number",
                                          "dino_head_hidden_size",
                                          "dino_bottleneck_size",
                                          "dino_freeze_last_layer",
                                          "dino_norm_last_layer",
                                          "dino_warmup_teacher_temp",
                                          "dino_teacher_temp",
                                          "dino_warmup_teacher_temp_epochs",
                                          "dino_out_dim"};
  std::string given = is_vision(f) ? "" : given_of(f, kOptions);
  if (given.empty() && !is_vision(f) && !f.run.model.vlm) {
    given = given_of(f, kShared);
  }
  return given.empty()
             ? Result()
             : Violation{fmt::format("--model {} is given {}", f.values.text("model"), given),
                         "--model vit"};
}

/// A task of images with the options that only it reads.
struct TaskOptions {
  VisionTask task;
  const char* name;
  std::array<const char*, 12> only;  // empty ones at the end
};

/// Names the options of other tasks that were given, and the task that reads them.
Result options_of_the_task(const Facts& f) {
  static constexpr std::array kTasks = std::to_array<TaskOptions>(
      {{VisionTask::classify, "classify", {"num_classes", "head_lr_mult", "class_head"}},
       {VisionTask::inpaint, "inpaint", {"mask_type", "mask_factor"}},
       {VisionTask::dino,
        "dino",
        {"iter_per_epoch", "dino_local_img_size", "dino_local_crops_number",
         "dino_head_hidden_size", "dino_bottleneck_size", "dino_freeze_last_layer",
         "dino_norm_last_layer", "dino_warmup_teacher_temp", "dino_teacher_temp",
         "dino_warmup_teacher_temp_epochs", "dino_out_dim"}}});
  const VisionTask chosen = f.run.model.vision.task;
  if (!is_vision(f)) {
    return {};
  }
  for (const TaskOptions& task : kTasks) {
    if (chosen == task.task) {
      continue;
    }
    const std::size_t count = std::ranges::find(task.only, nullptr) - task.only.begin();
    const std::string given = given_of(f, std::span(task.only).first(count));
    if (!given.empty()) {
      return Violation{fmt::format("given, and not to {}: {}", task.name, given),
                       fmt::format("--model vit --vision-pretraining-type {}", task.name)};
    }
  }
  if (chosen == VisionTask::inpaint && f.values.given("class_token_length")) {
    return Violation{"given to inpaint: class_token_length", "--vision-pretraining-type classify"};
  }
  return {};
}

/// Small crops are whole patches, and have no more positions than an image.
Result dino_sizes(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!is_vision(f) || !m.vision.dino) {
    return {};
  }
  const DinoConfig& d = *m.vision.dino;
  const Index patch = std::max<Index>(m.vision.patch, 1);
  const bool crops =
      d.local_crops == 0 || (d.local_size > 0 && d.local_size % patch == 0 &&
                             m.vision.of_local_crops().positions() <= m.vision.positions());
  const bool widths = d.head_hidden_size > 0 && d.bottleneck_size > 0 && d.outputs > 0;
  const bool schedules = d.iterations_per_epoch > 0 && d.temperature_epochs >= 0 &&
                         d.first_temperature > 0 && d.temperature > 0 && d.frozen_epochs >= 0;
  if (d.local_crops >= 0 && crops && widths && schedules && m.drop_path >= 0 && m.drop_path < 1) {
    return {};
  }
  return Violation{
      fmt::format("{} crops of {} pixels in patches of {}, head {} {} {}, temperatures {} and {}, "
                  "drop_path_rate {}",
                  d.local_crops, d.local_size, m.vision.patch, d.head_hidden_size,
                  d.bottleneck_size, d.outputs, d.first_temperature, d.temperature, m.drop_path),
      nearest_multiples("dino-local-img-size", d.local_size, patch)};
}

/// Sequence parallelism divides positions among tensor ranks, of small crops, too.
Result dino_layout(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const ParallelConfig& p = f.run.parallel;
  if (!is_vision(f) || !m.vision.dino) {
    return {};
  }
  const Index t = p.tensor_model_parallel_size;
  if (p.pipeline_model_parallel_size > 1 || f.values.given("enable_cuda_graph")) {
    return Violation{
        fmt::format("pipeline_model_parallel_size {}{}", p.pipeline_model_parallel_size,
                    f.values.given("enable_cuda_graph") ? ", enable_cuda_graph" : ""),
        "--pipeline-model-parallel-size 1"};
  }
  const Index local = m.vision.of_local_crops().positions();
  return !p.sequence_parallel || m.vision.dino->local_crops == 0 || local % t == 0
             ? Result()
             : Violation{fmt::format("{} positions of a small crop over {} tensor ranks", local, t),
                         "--no-sequence-parallel"};
}

constexpr std::array kVisionTaskRules = std::to_array<Constraint>({
    {"E260", "options_of_images", "options of images need --model vit",
     "model num-classes img-h img-w num-channels patch-dim classes-fraction "
     "data-per-class-fraction head-lr-mult vision-pretraining-type mask-type mask-factor "
     "class-token-length class-head skip-bad-images drop-path-rate iter-per-epoch "
     "dino-local-img-size "
     "dino-local-crops-number dino-head-hidden-size dino-bottleneck-size "
     "dino-freeze-last-layer dino-norm-last-layer dino-warmup-teacher-temp dino-teacher-temp "
     "dino-warmup-teacher-temp-epochs dino-out-dim",
     "pretrain-vision-classify, -inpaint and -dino set --model vit; other models would ignore "
     "them.",
     options_of_images},
    {"E261", "options_of_the_task", "options of one task of images need that task",
     "vision-pretraining-type num-classes class-token-length class-head head-lr-mult mask-type "
     "mask-factor "
     "iter-per-epoch dino-local-img-size dino-local-crops-number dino-head-hidden-size "
     "dino-bottleneck-size dino-freeze-last-layer dino-norm-last-layer "
     "dino-warmup-teacher-temp dino-teacher-temp dino-warmup-teacher-temp-epochs dino-out-dim",
     "Only a classifier has classes and their head, only inpainting has masks, only DINO has "
     "crops and a teacher.",
     options_of_the_task},
    {"E270", "dino_sizes",
     "dino: small crops of whole patches with no more positions than an image, widths, "
     "temperatures and epochs > 0, 0 <= drop_path_rate < 1",
     "vision-pretraining-type dino-local-img-size dino-local-crops-number patch-dim "
     "dino-head-hidden-size dino-bottleneck-size dino-out-dim dino-warmup-teacher-temp "
     "dino-teacher-temp dino-warmup-teacher-temp-epochs iter-per-epoch drop-path-rate",
     "Small crops take the first rows of the position table.", dino_sizes},
    {"E271", "dino_layout",
     "dino: pipeline_model_parallel_size == 1, no graphs; with sequence parallelism positions of "
     "a small crop are a multiple of the tensor ranks",
     "vision-pretraining-type pipeline-model-parallel-size sequence-parallel "
     "tensor-model-parallel-size dino-local-img-size class-token-length enable-cuda-graph",
     "Student and teacher run over crops of two sizes in one pass.", dino_layout},
});

}  // namespace

std::span<const Constraint> vision_task_constraints() {
  return kVisionTaskRules;
}

}  // namespace mpitron::config
