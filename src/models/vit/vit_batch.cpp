// Cuts images into patches: rows of patches, each with its pixels by row, column and channel, 0
// where a mask hides the patch.
#include "models/vit/vit_batch.h"

#include <algorithm>

#include "tensor/host_copy.h"

namespace mpitron::models {
namespace {

using config::VisionConfig;
using tensor::Tensor;

/// Writes one patch of an image [3, height, width].
void write_patch(const float* image, Index patch, const VisionConfig& vision, float* to) {
  const Index edge = vision.patch, width = vision.image_width;
  const Index plane = vision.image_height * width;
  const Index top = patch / vision.grid_width() * edge, left = patch % vision.grid_width() * edge;
  for (Index y = top; y < top + edge; ++y) {
    for (Index x = left; x < left + edge; ++x) {
      for (Index channel = 0; channel < vision.channels; ++channel) {
        *to++ = image[channel * plane + y * width + x];
      }
    }
  }
}

/// Images [3, height, width] -> [n, images, P P 3]; 0 where `hidden` (patch, image) says so.
template <class Hidden>
Tensor patches_of(device::Device& device, std::span<const float* const> images,
                  const VisionConfig& vision, const Hidden& hidden) {
  const Index n = vision.patches(), b = static_cast<Index>(images.size());
  const Index numbers = vision.patch_width();
  const Tensor result = tensor::empty_on_host(device, {n, b, numbers}, DType::f32);
  for (Index patch = 0; patch < n; ++patch) {
    for (Index image = 0; image < b; ++image) {
      float* to = result.data<float>() + (patch * b + image) * numbers;
      if (hidden(patch, image)) {
        std::fill_n(to, numbers, 0.f);
      } else {
        write_patch(images[static_cast<std::size_t>(image)], patch, vision, to);
      }
    }
  }
  return tensor::prefetch(device, result);
}

/// Lists where the images of a microbatch begin.
std::vector<const float*> images_of(const HostMicrobatch& microbatch, const VisionConfig& vision) {
  std::vector<const float*> images;
  for (Index i = 0; i < microbatch.samples; ++i) {
    images.push_back(microbatch[kPixels].data() + i * vision.pixels());
  }
  return images;
}

}  // namespace

Tensor image_patches(device::Device& device, std::span<const float* const> images,
                     const VisionConfig& vision) {
  return patches_of(device, images, vision, [](Index, Index) { return false; });
}

std::span<const std::string_view> vit_fields() {
  static constexpr std::string_view kFields[] = {kPositionIds.name, kPatches.name, kLabels.name,
                                                 kTargetPatches.name, kLossMask.name};
  return kFields;
}

Batch vit_batch(device::Device& device, const HostMicrobatch& microbatch,
                const VisionConfig& vision) {
  const ColumnUpload columns(device, microbatch, {});
  Batch batch{{kPositionIds, columns.positions(vision.positions())}};
  const std::vector<const float*> images = images_of(microbatch, vision);
  const std::span<const float> mask = microbatch[kPatchMask];
  if (mask.empty()) {
    batch[kPatches] = image_patches(device, images, vision);
    batch[kLabels] = columns.whole(kLabels);
    batch[kLossMask] = columns.whole(kLossMask);
    batch.loss_tokens = columns.sum_of_whole(kLossMask);
    return batch;
  }
  batch[kPatches] = patches_of(device, images, vision, [&](Index patch, Index row) {
    return mask[static_cast<std::size_t>(row * vision.patches() + patch)] != 0;
  });
  batch[kTargetPatches] = image_patches(device, images, vision);
  batch[kLossMask] = columns.whole(kPatchMask);
  batch.loss_tokens = columns.sum_of_whole(kPatchMask);
  return batch;
}

}  // namespace mpitron::models
