// A linear layer as an op: its products are linear_products.cpp's, and what is kept is the input,
// or its recipe.
#include "ops/linear/linear.h"

#include "ops/linear/linear_products.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

struct LinearBackward {
  autograd::SavedValue x;  // [..., in]
  Slot x_slot;
  Parameter* weight;
  Parameter* bias;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor dy = fold_rows(gradient);
    accumulate_linear(context, *weight, bias, dy, fold_rows(x(context)));
    if (x_slot) {
      const Tensor dx = linear_input_gradient(context, dy, *weight);
      autograd::accumulate(context, x_slot, dx.reshape(x.shape()));
    }
  }
};

}  // namespace

Var linear(Context& context, const Recomputable& input, Parameter& weight, Parameter* bias) {
  const Var& x = input.var;
  const Tensor rows = fold_rows(x.value);
  const Tensor y = linear_output(context, rows, weight, bias);
  Shape shape = x.shape();
  shape[-1] = y.shape()[1];
  Var result = autograd::variable(y.reshape(shape));
  if (context.recording()) {
    context.record(result.slot, LinearBackward{autograd::SavedValue(input), x.slot, &weight, bias});
  }
  return result;
}

}  // namespace mpitron::ops
