#include <algorithm>

#include "pipeline/schedule.h"
#include "utils/error.h"

// The schedules without chunks: 1F1B (Narayanan et al. 2019), one microbatch after the other on a
// single stage, and zero bubble (ZB-H1, Qi et al. 2024), which puts weight gradients into the
// bubble.

namespace mpitron::pipeline {
Index one_forward_one_backward_warmup(const ScheduleOptions& options, Index stage) {
  return std::min(options.stages - stage - 1, options.microbatches);
}

/// Stage s runs stages - s - 1 forwards ahead, then one forward and one backward by turns
/// (PipeDream-Flush, Narayanan et al. 2021).
ActionList one_forward_one_backward_order(const ScheduleOptions& options, Index stage) {
  if (options.chunks != 1) {
    throw_usage(
        "The 1F1B schedule has 1 chunk per stage, given are {}; several chunks need the "
        "interleaved schedule",
        options.chunks);
  }
  const Index warmup = one_forward_one_backward_warmup(options, stage);
  ActionList order;
  for (Index m = 0; m < warmup; ++m) {
    order.push_back({.kind = ActionKind::forward, .microbatch = m});
  }
  for (Index m = 0; m < options.microbatches; ++m) {
    if (m + warmup < options.microbatches) {
      order.push_back({.kind = ActionKind::forward, .microbatch = m + warmup});
    }
    order.push_back({.kind = ActionKind::backward, .microbatch = m});
  }
  return order;
}

/// Orders the passes of a single stage. Where passes are joined, each forward runs with the
/// backward of the microbatch before it.
ActionList no_pipelining_order(const ScheduleOptions& options) {
  if (options.stages != 1 || options.chunks != 1) {
    throw_usage(
        "A schedule without pipelining has 1 stage and 1 chunk, given are {} and {}; "
        "--pipeline-model-parallel-size decides",
        options.stages, options.chunks);
  }
  ActionList order;
  const Index ahead = options.join_passes ? 1 : 0;  // forwards before the first backward
  for (Index m = 0; m < options.microbatches + ahead; ++m) {
    const bool joined = options.join_passes && m > 0 && m < options.microbatches;
    if (m < options.microbatches) {
      order.push_back({.kind = ActionKind::forward, .microbatch = m, .joined = joined});
    }
    if (m >= ahead) {
      order.push_back({.kind = ActionKind::backward, .microbatch = m - ahead});
    }
  }
  return order;
}

/// 1F1B with its backwards in halves: gradients of weights fill what would be bubbles (ZB-H1, Qi et
/// al. 2024).
ActionList zero_bubble_order(const ScheduleOptions& options, Index stage) {
  if (options.chunks != 1) {
    throw_usage(
        "The zero-bubble schedule has 1 chunk per stage, given are {}; leave out "
        "--num-layers-per-virtual-pipeline-stage and --num-virtual-stages-per-pipeline-rank, or "
        "give --pipeline-model-parallel-layout as many parts as there are stages",
        options.chunks);
  }
  ActionList order;
  Index weights_done = 0;
  for (const Action& action : one_forward_one_backward_order(options, stage)) {
    if (action.kind == ActionKind::forward) {
      order.push_back(action);
      continue;
    }
    order.push_back({.kind = ActionKind::backward_input, .microbatch = action.microbatch});
    if (action.microbatch >= stage) {
      order.push_back({.kind = ActionKind::backward_weight, .microbatch = weights_done++});
    }
  }
  for (; weights_done < options.microbatches; ++weights_done) {
    order.push_back({.kind = ActionKind::backward_weight, .microbatch = weights_done});
  }
  return order;
}

}  // namespace mpitron::pipeline
