#include "autograd/context.h"

namespace mpitron::autograd {

void release(Context& context, Parameter& parameter) {
  --parameter.live_tapes;
  if (context.keeper != nullptr) {
    context.keeper->gradient_released(parameter, context.last_microbatch);
  }
}

}  // namespace mpitron::autograd
