#pragma once
#include <filesystem>

#include "train/model/trained_model.h"

namespace mpitron::train {

/// Returns the largest difference, over all ranks, of the encoder's outputs for recorded images
/// from the recorded output [T, positions, h]. `model` has the recorded weights; `folder` has
/// batches.safetensors with images [T, 3, H, W] and logits.safetensors with the output.
double compare_encoder(device::Device& device, TrainedModel& model,
                       const std::filesystem::path& folder);

}  // namespace mpitron::train
