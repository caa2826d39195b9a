#pragma once
#include <filesystem>

#include "train/model/trained_model.h"

namespace mpitron::train {

/// Largest difference of what the image encoder of a vlm makes of recorded images, over all ranks,
/// from the recorded output [T, positions, h]. `model` has the recorded weights; `folder`:
/// batches.safetensors with images [T, 3, H, W] and logits.safetensors with the output.
double compare_encoder(device::Device& device, TrainedModel& model,
                       const std::filesystem::path& folder);

}  // namespace mpitron::train
