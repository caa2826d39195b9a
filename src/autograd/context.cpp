// Counts the tapes that still have gradients for a parameter, and tells its keeper when one of them
// adds nothing more.
#include "autograd/context.h"

namespace mpitron::autograd {

void release(Context& context, Parameter& parameter) {
  --parameter.sink.live_tapes;
  if (context.recorder.keeper != nullptr) {
    context.recorder.keeper->gradient_released(parameter, context.recorder.last_microbatch);
  }
}

}  // namespace mpitron::autograd
