#pragma once
#include <filesystem>
#include <optional>

#include "comm/world.h"
#include "config/checkpoint_config.h"

namespace mpitron::train {

/// The checkpoint that a run starts from, and how much of it counts.
struct CheckpointSource {
  std::filesystem::path file;
  bool weights_only = false;  // --finetune, --pretrained-checkpoint: the run starts at iteration 0
};

/// The newest checkpoint of --load whose every byte is as it was written (or that of --ckpt-step),
/// else that of --pretrained-checkpoint. None where the options ask for nothing, or say what to do
/// without one. All ranks call it. Error(data) where there is nothing to load.
std::optional<CheckpointSource> choose_checkpoint(comm::World& world,
                                                  const config::CheckpointConfig& config);

/// Rows of the vocabulary in that checkpoint, if it says so: the padding takes part in the loss, so
/// a run goes on with the same. All ranks call it with the same source.
std::optional<Index> vocabulary_rows(comm::World& world,
                                     const std::optional<CheckpointSource>& source);

}  // namespace mpitron::train
