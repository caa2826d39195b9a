#include "ops/linear.h"

#include "kernels/matmul.h"
#include "ops/bias.h"
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
    const Tensor dy = gradient.reshape({x.shape()[0], weight->value.shape()[0]});
    autograd::accumulate_parameter(
        context, *weight, [&](const device::TensorView& sink, bool accumulate) {
          context.launch_with_workspace(kernels::Matmul{.a = dy.view(),
                                                        .b = x.view(),
                                                        .c = sink,
                                                        .transpose_a = true,
                                                        .accumulate = accumulate});
        });
    accumulate_bias(context, bias, dy);
    if (x_slot) {
      const Tensor dx = context.empty(x.shape(), x.dtype());
      context.launch_with_workspace(
          kernels::Matmul{.a = dy.view(), .b = weight->value.view(), .c = dx.view()});
      autograd::accumulate(context, x_slot, dx.reshape(x_shape));
    }
  }
};

}  // namespace

Var linear(Context& context, const Var& x, Parameter& weight, Parameter* bias) {
  const Tensor rows = fold_rows(x.value);
  const Index out = weight.value.shape()[0];
  MPITRON_CHECK(rows.shape()[1] == weight.value.shape()[1], to_string(x.shape()), weight.name);
  const Tensor y = context.empty({rows.shape()[0], out}, x.value.dtype());
  kernels::Matmul product{
      .a = rows.view(), .b = weight.value.view(), .c = y.view(), .transpose_b = true};
  context.use(weight);
  if (bias != nullptr) {
    product.bias = bias->value.view();
    context.use(*bias);
  }
  context.launch_with_workspace(product);
  Shape shape = x.shape();
  shape[-1] = out;
  Var result = autograd::variable(y.reshape(shape));
  if (context.recording()) {
    context.tape->record(result.slot, LinearBackward{rows, x.slot, x.shape(), &weight, bias});
  }
  return result;
}

}  // namespace mpitron::ops
