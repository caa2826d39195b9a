#include "pipeline/zero_bubble.h"

#include "pipeline/one_forward_one_backward.h"
#include "utils/error.h"

namespace mpitron::pipeline {

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
