#pragma once
#include "config/vision_config.h"
#include "models/base/batch.h"

namespace mpitron::models {

// Of images, whose labels and loss_mask are [b]; n patches each:
inline constexpr Field<float> kPatchMask{"patch_mask"};  // [b, n], 1 = masked; to inpaint only
// Of the batch alone, fp32:
inline constexpr Field<float> kPatches{"patches"};               // what the model sees
inline constexpr Field<float> kTargetPatches{"target_patches"};  // as it was before it was masked

/// Lists what a ViT reads of a batch: position_ids, [class tokens + n, b], patches, [n, b, P P 3],
/// in the order of rows, of numbers row, column, channel, 0 behind the mask; to classify labels and
/// loss_mask, [1, b]; to inpaint target_patches and loss_mask, [n, b], 1 behind the mask.
std::span<const std::string_view> vit_fields();

/// Images [3, height, width] cut into patches: [n, images, P P 3], fp32.
tensor::Tensor image_patches(device::Device& device, std::span<const float* const> images,
                             const config::VisionConfig& vision);

Batch vit_batch(device::Device& device, const HostMicrobatch& microbatch,
                const config::VisionConfig& vision);

}  // namespace mpitron::models
