// Tells a parameter's keeper when a tape that used it has ended. The keeper learns from the last
// microbatch's that the gradient is complete.
#include "autograd/context.h"

namespace mpitron::autograd {

void release(Context& context, Parameter& parameter) {
  --parameter.sink.live_tapes;
  if (context.recorder.keeper != nullptr) {
    context.recorder.keeper->gradient_released(parameter, context.recorder.last_microbatch);
  }
}

}  // namespace mpitron::autograd
