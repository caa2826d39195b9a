#include "pipeline/no_pipelining.h"

#include "utils/error.h"

namespace mpitron::pipeline {

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

}  // namespace mpitron::pipeline
