#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "comm/groups/world.h"
#include "config/checkpoint_config.h"

namespace mpitron::train {

/// A checkpoint that a run may start from, and how much of it counts.
struct CheckpointSource {
  Index iteration = 0;         // by its name; -1: none (a converted model, weights only)
  std::filesystem::path file;  // empty: each rank's own (LocalCheckpoints)
  bool weights_only = false;   // --finetune, --pretrained-checkpoint: the run starts at iteration 0
  bool local() const { return file.empty(); }
};

/// Checkpoints by their names, the best first: of --load (with short-lived ones) the newest, or
/// only that of --ckpt-step; then of --pretrained-checkpoint. All ranks call it and get the same.
/// Error(data) where the one of --ckpt-step is not there.
std::vector<CheckpointSource> checkpoint_sources(comm::World& world,
                                                 const config::CheckpointConfig& config);

/// The first start of a job that resumes from its own folder: --load names the folder of --save,
/// and nothing was ever saved there. Such a run begins with random weights without being asked.
bool is_first_start(const config::CheckpointConfig& config);

/// Rows of the vocabulary in the first of these that opens, if it says so: the padding takes part
/// in the loss, so a run goes on with the same. All ranks call it with the same sources.
std::optional<Index> vocabulary_rows(comm::World& world,
                                     const std::vector<CheckpointSource>& sources);

}  // namespace mpitron::train
