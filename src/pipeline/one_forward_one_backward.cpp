#include "pipeline/one_forward_one_backward.h"

#include <algorithm>

#include "utils/error.h"

namespace mpitron::pipeline {

Index one_forward_one_backward_warmup(const ScheduleOptions& options, Index stage) {
  return std::min(options.stages - stage - 1, options.microbatches);
}

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

}  // namespace mpitron::pipeline
