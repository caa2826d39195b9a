#pragma once
#include <vector>

#include "plan/time/layer_time.h"

namespace mpitron::plan {

/// A step, by cause. The terms add up to `seconds()`.
struct StepTime {
  Terms work;  // of the slowest stage, all microbatches
  double sends = 0;
  double bubble = 0;
  double data = 0;  // traffic of gradients and parameters that is not hidden
  double optimizer = 0;
  double fixed = 0;  // per step
  double jitter = 0;

  double seconds() const { return work.sum() + sends + bubble + data + optimizer + fixed + jitter; }
};

/// Layers of each stage: equal where the count allows it, else the first and last (which have the
/// embedding and the loss) have one less, else the last ones.
std::vector<Index> stage_layers(Index layers, Index stages);

StepTime step_time(const Setting& setting);

}  // namespace mpitron::plan
