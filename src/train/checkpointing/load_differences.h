#pragma once
#include <span>
#include <string>

#include "checkpoint/checkpoint_reader.h"
#include "train/checkpointing/checkpoint_state.h"

namespace mpitron::train {

/// What a run asks a checkpoint for.
struct WantedState {
  const StateToLoad& state;
  bool with_optimizer = true;
  bool with_histories = true;     // of 8-bit scales
  const std::string& strictness;  // --dist-ckpt-strictness
};

/// Compares a checkpoint with the tensors that want its values. Error(data) with all differences at
/// once, but for those that --dist-ckpt-strictness lets pass, and warns of these where it says so.
void refuse_differences(checkpoint::CheckpointReader& reader,
                        std::span<const checkpoint::LoadTarget> targets, const WantedState& wanted);

}  // namespace mpitron::train
