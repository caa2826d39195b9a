// Converts between types. The backward pass converts the gradient back to x's type; a cast to the
// same type costs nothing and records nothing.
#include "ops/elementwise/cast.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {
namespace {

struct CastBackward {
  autograd::Slot x_slot;
  DType x_dtype;

  void operator()(autograd::Context& context, tensor::Tensor gradient) const {
    autograd::accumulate(context, x_slot, converted(context, gradient, x_dtype));
  }
};

}  // namespace

tensor::Tensor converted(autograd::Context& context, const tensor::Tensor& x, DType dtype) {
  if (x.dtype() == dtype) {
    return x;
  }
  const tensor::Tensor y = context.empty(x.shape(), dtype);
  context.launch(kernels::Cast{.x = x.view(), .y = y.view()});
  return y;
}

autograd::Var cast(autograd::Context& context, const autograd::Var& x, DType dtype) {
  if (x.value.dtype() == dtype) {
    return x;
  }
  autograd::Var result = autograd::variable(converted(context, x.value, dtype));
  if (context.recording()) {
    context.record(result.slot, CastBackward{x.slot, x.value.dtype()});
  }
  return result;
}

}  // namespace mpitron::ops
