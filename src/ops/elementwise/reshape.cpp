#include "ops/elementwise/reshape.h"

#include "autograd/gradient.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

Var reshape(Context& context, const Var& x, const Shape& shape) {
  Var result = autograd::variable(x.value.reshape(shape));
  if (context.recording()) {
    context.record(result.slot, [slot = x.slot, from = x.shape()](Context& inner,
                                                                  const tensor::Tensor& gradient) {
      autograd::accumulate(inner, slot, gradient.reshape(from));
    });
  }
  return result;
}

}  // namespace mpitron::ops
