// Notes begins and ends of layers. A layer that ends is looked for among those that are open, since
// passes of two microbatches may interleave.
#include "train/timing/layer_trace.h"

#include <algorithm>

namespace mpitron::train {

using autograd::Pass;

void LayerTrace::enter(Index unit, Pass pass) {
  begins_.push_back({unit, pass, Trace::now()});
  keeper_.enter(unit, pass);
}

void LayerTrace::leave(Index unit, Pass pass) {
  keeper_.leave(unit, pass);
  const auto begin = std::ranges::find_if(
      begins_, [&](const Begin& b) { return b.unit == unit && b.pass == pass; });
  if (begin == begins_.end()) {  // entered before the recording
    return;
  }
  trace_->add({.kind = TraceKind::layer,
               .name = trace_name(pass == Pass::forward ? "layer forward" : "layer backward"),
               .begin = begin->time,
               .end = Trace::now(),
               .number = unit});
  begins_.erase(begin);
}

}  // namespace mpitron::train
