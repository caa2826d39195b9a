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

/// Work of a pipeline stage with a microbatch, and the parameters it holds.
struct StageWork {
  Terms forward;
  Terms backward;
  HeldParameters held;

  double seconds() const { return forward.sum() + backward.sum(); }
};
/// Returns the work of each stage; all its chunks.
std::vector<StageWork> stage_works(const Setting& setting);

/// Returns the time of a step by closed form: 1F1B adds the others' time of one microbatch to that
/// of the slowest stage; with chunks a share of it (arXiv:2104.04473, section 2.2).
StepTime step_time(const Setting& setting);

}  // namespace mpitron::plan
