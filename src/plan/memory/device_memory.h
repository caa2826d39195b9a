#pragma once
#include <vector>

#include "plan/model/job.h"

namespace mpitron::plan {

/// Bytes that a rank keeps at its peak, by kind.
struct RankMemory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double logits = 0;

  double state() const { return weights + gradients + optimizer; }
  double total() const { return state() + activations + logits; }
};

/// Returns the memory of a rank of each pipeline stage, in 16 bits with fp32 gradients and Adam
/// state, by a closed form over what layers keep (nn/base/layer_work.h). For searches: plan/replay
/// plays the program.
std::vector<RankMemory> stage_memory(const Job& job);
/// Returns the memory of the stage that needs most.
RankMemory fullest_stage(const Job& job);

}  // namespace mpitron::plan
