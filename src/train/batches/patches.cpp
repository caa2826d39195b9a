#include "train/batches/patches.h"

#include <algorithm>

#include "tensor/host_copy.h"

namespace mpitron::train {
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

/// [b, 3, height, width] -> [n, b, P P 3]; 0 where `hidden` (patch, row) says so.
template <class Hidden>
Tensor patches_of(device::Device& device, const HostMicrobatch& microbatch, const Hidden& hidden) {
  const VisionConfig& vision = *microbatch.vision;
  const Index n = vision.patches(), b = microbatch.samples, numbers = vision.patch_width();
  const Tensor result = tensor::empty_on_host(device, {n, b, numbers}, DType::f32);
  for (Index patch = 0; patch < n; ++patch) {
    for (Index row = 0; row < b; ++row) {
      float* to = result.data<float>() + (patch * b + row) * numbers;
      if (hidden(patch, row)) {
        std::fill_n(to, numbers, 0.f);
      } else {
        write_patch(microbatch.pixels.data() + row * n * numbers, patch, vision, to);
      }
    }
  }
  return tensor::prefetch(device, result);
}

/// Row numbers, [s, b].
Tensor positions_of(device::Device& device, Index s, Index b) {
  const Tensor result = tensor::empty_on_host(device, {s, b}, DType::i64);
  for (Index i = 0; i < s * b; ++i) {
    result.data<std::int64_t>()[i] = i / b;
  }
  return tensor::prefetch(device, result);
}

template <class T>
Tensor copied(device::Device& device, std::span<const T> values, const Shape& shape) {
  const Tensor result = tensor::empty_on_host(device, shape, dtype_of<T>());
  std::ranges::copy(values, result.data<T>());
  return tensor::prefetch(device, result);
}

/// [b, n] -> [n, b].
Tensor patch_mask(device::Device& device, const HostMicrobatch& microbatch, Index n) {
  const Index b = microbatch.samples;
  const Tensor result = tensor::empty_on_host(device, {n, b}, DType::f32);
  for (Index i = 0; i < n * b; ++i) {
    result.data<float>()[i] = microbatch.patch_mask[static_cast<std::size_t>(i % b * n + i / b)];
  }
  return tensor::prefetch(device, result);
}

double sum_of(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) {
    sum += static_cast<double>(value);
  }
  return sum;
}

}  // namespace

models::Batch upload_images(device::Device& device, const HostMicrobatch& microbatch) {
  const VisionConfig& vision = *microbatch.vision;
  const Index n = vision.patches(), b = microbatch.samples;
  const bool masked = !microbatch.patch_mask.empty();
  const auto none = [](Index, Index) { return false; };
  models::Batch batch{
      .tokens = {}, .position_ids = positions_of(device, vision.positions(), b), .labels = {}};
  if (!masked) {
    batch.patches = patches_of(device, microbatch, none);
    batch.labels = copied(device, microbatch.labels, {1, b});
    batch.loss_mask = copied(device, microbatch.loss_mask, {1, b});
    batch.loss_tokens = sum_of(microbatch.loss_mask);
    return batch;
  }
  batch.patches = patches_of(device, microbatch, [&](Index patch, Index row) {
    return microbatch.patch_mask[static_cast<std::size_t>(row * n + patch)] != 0;
  });
  batch.target_patches = patches_of(device, microbatch, none);
  batch.loss_mask = patch_mask(device, microbatch, n);
  batch.loss_tokens = sum_of(microbatch.patch_mask);
  return batch;
}

}  // namespace mpitron::train
