#pragma once
#include <vector>

#include "plan/model/layout.h"

namespace mpitron::plan {

/// Bytes that a rank keeps at its peak, by kind.
struct RankMemory {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double logits = 0;

  double total() const { return weights + gradients + optimizer + activations + logits; }
};

/// Of a rank of each pipeline stage, in 16 bits with fp32 gradients and Adam state
/// (arXiv:2205.05198, equation 2 for activations, by layer kind; flash attention).
std::vector<RankMemory> stage_memory(const Job& job);
/// Of the fullest stage.
RankMemory fullest_stage(const Job& job);

}  // namespace mpitron::plan
