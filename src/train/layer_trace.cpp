#include "train/layer_trace.h"

namespace mpitron::train {

using autograd::Pass;

void LayerTrace::enter(Index unit, Pass pass) {
  begins_.push_back(Trace::now());
  keeper_.enter(unit, pass);
}

void LayerTrace::leave(Index unit, Pass pass) {
  keeper_.leave(unit, pass);
  if (begins_.empty()) {  // entered before the recording
    return;
  }
  trace_->add({.kind = TraceKind::layer,
               .name = trace_name(pass == Pass::forward ? "layer forward" : "layer backward"),
               .begin = begins_.back(),
               .end = Trace::now(),
               .number = unit});
  begins_.pop_back();
}

}  // namespace mpitron::train
