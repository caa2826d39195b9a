#pragma once
#include "plan/machine/library.h"
#include "plan/planned_run.h"
#include "plan/time/layer_time.h"

namespace mpitron::test {

inline constexpr Sizes kTimedGpt{.layers = 8, .hidden = 8192, .heads = 64};

/// Returns the time of the first layer of a model whose sequences are this long.
inline plan::LayerTime timed_layer(const plan::Layout& layout, Index sequence,
                                   const plan::Stack& stack) {
  const plan::Machine machine = *plan::Library().machine("h100-dgx");
  const plan::Job job = plan::make_job(planned_run(kTimedGpt, sequence, 64, layout));
  return plan::layer_time({machine, stack, job}, job.work->kinds().front());
}

}  // namespace mpitron::test
