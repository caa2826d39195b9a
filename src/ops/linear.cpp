#include "ops/linear.h"

#include "ops/linear_products.h"
#include "ops/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

struct LinearBackward {
  Tensor x;  // [t, in]
  Slot x_slot;
  Shape x_shape;
  Parameter* weight;
  Parameter* bias;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor dy = fold_rows(gradient);
    accumulate_linear(context, *weight, bias, dy, x);
    if (x_slot) {
      const Tensor dx = linear_input_gradient(context, dy, *weight);
      autograd::accumulate(context, x_slot, dx.reshape(x_shape));
    }
  }
};

}  // namespace

Var linear(Context& context, const Var& x, Parameter& weight, Parameter* bias) {
  const Tensor rows = fold_rows(x.value);
  const Tensor y = linear_output(context, rows, weight, bias);
  Shape shape = x.shape();
  shape[-1] = y.shape()[1];
  Var result = autograd::variable(y.reshape(shape));
  if (context.recording()) {
    context.tape->record(result.slot, LinearBackward{rows, x.slot, x.shape(), &weight, bias});
  }
  return result;
}

}  // namespace mpitron::ops
