#pragma once
#include "pipeline/schedule.h"

namespace mpitron::pipeline {

/// Forwards before the first backward of a stage: min(stages - stage - 1, microbatches).
Index one_forward_one_backward_warmup(const ScheduleOptions& options, Index stage);

/// Computations of one stage: warm-up forwards, then forward and backward by turns, then the
/// remaining backwards. Source: forward_backward_pipelining_without_interleaving of the reference.
ActionList one_forward_one_backward_order(const ScheduleOptions& options, Index stage);

}  // namespace mpitron::pipeline
