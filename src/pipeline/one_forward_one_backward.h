#pragma once
#include "pipeline/schedule.h"

namespace mpitron::pipeline {

/// Forwards before the first backward of a stage: min(stages - stage - 1, microbatches).
Index one_forward_one_backward_warmup(const ScheduleOptions& options, Index stage);

/// Computations of one stage: warm-up forwards, then forward and backward by turns, then the
/// remaining backwards. Source: forward_backward_pipelining_without_interleaving of the reference.
ActionList one_forward_one_backward_order(const ScheduleOptions& options, Index stage);

/// Computations of the only stage: forward and backward of one microbatch after the other.
ActionList no_pipelining_order(const ScheduleOptions& options);

/// Computations of one stage in ZB-H1 (Qi et al., "Zero Bubble Pipeline Parallelism", 2023): 1F1B
/// with backward split in two; stage s runs the weight gradients `s` microbatches late, so that
/// gradients of inputs travel earlier and the late weight gradients fill the end. With equal costs
/// the bubble is a third of 1F1B's. At most min(microbatches, stages) tapes are alive on any stage,
/// as on the first stage of 1F1B.
ActionList zero_bubble_order(const ScheduleOptions& options, Index stage);

}  // namespace mpitron::pipeline
