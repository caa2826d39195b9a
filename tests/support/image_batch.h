#pragma once
#include "models/vit/vit_batch.h"
#include "support/tensors.h"
#include "support/tiny_gpt.h"

namespace mpitron::test {

/// The size of `tiny_gpt` over images of four patches of 2 x 2 pixels.
inline config::ModelConfig tiny_vit(config::VisionTask task) {
  config::ModelConfig config = tiny_gpt();
  config.kind = config::ModelKind::vit;
  config.vision = {.task = task,
                   .image_height = 4,
                   .image_width = 4,
                   .patch = 2,
                   .class_tokens = task == config::VisionTask::classify ? 2 : 0,
                   .classes = 3};
  config.seq_length = config.max_position_embeddings = config.vision.positions();
  return config;
}

/// Two images, with classes, or with masks of one and two patches.
inline models::Batch image_batch(device::Device& device, const config::VisionConfig& vision) {
  const Index n = vision.patches(), numbers = vision.patch_width();
  std::vector<double> pixels;
  for (Index i = 0; i < 2 * n * numbers; ++i) {
    pixels.push_back(static_cast<double>(i % 11) / 8 - 0.5);
  }
  std::vector<std::int64_t> positions;
  for (Index i = 0; i < 2 * vision.positions(); ++i) {
    positions.push_back(i / 2);
  }
  models::Batch batch;
  batch[models::kPositionIds] = make_ids(device, {vision.positions(), 2}, positions);
  batch[models::kPatches] = make_tensor(device, {n, 2, numbers}, DType::f32, pixels);
  if (vision.task == config::VisionTask::classify) {
    batch[models::kLabels] = make_ids(device, {1, 2}, {2, 0});
    batch[models::kLossMask] = make_tensor(device, {1, 2}, DType::f32, {1, 1});
    batch.loss_tokens = 2;
    return batch;
  }
  batch[models::kTargetPatches] = batch[models::kPatches];
  batch[models::kLossMask] = make_tensor(device, {n, 2}, DType::f32, {1, 0, 0, 1, 0, 1, 0, 0});
  batch.loss_tokens = 3;
  return batch;
}

}  // namespace mpitron::test
