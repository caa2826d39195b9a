#pragma once
#include <string>

#include "checkpoint/folders/folder.h"
#include "comm/groups/world.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// A checkpoint that was just written.
struct SavedRun {
  checkpoint::Folder folder;
  Index iteration = 0;
  bool with_optimizer = true;
  std::string build;  // of the program
};

/// Reads the checkpoint into memory of its own, compares it bit for bit with the run's state, and
/// records the result in it. All ranks; Error(data) names the tensors that differ.
void verify_resume(comm::World& world, TrainStep& step, const SavedRun& saved);

}  // namespace mpitron::train
