#include "ops/experts/router_logits.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "ops/elementwise/cast.h"
#include "ops/linear/linear.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

struct RouterLogitsBackward {
  Tensor x;  // [t, h]
  Slot x_slot;
  Parameter* weight;

  void operator()(Context& context, const Tensor& dy) const {
    const Tensor wide = converted(context, weight->value, dy.dtype());
    const Tensor dx = context.empty(x.shape(), dy.dtype());
    context.launch_with_workspace(
        kernels::Matmul{.a = dy.view(), .b = wide.view(), .c = dx.view()});
    const Tensor gradient = context.empty(weight->value.shape(), dy.dtype());
    const Tensor input = converted(context, x, dy.dtype());
    context.launch_with_workspace(kernels::Matmul{
        .a = dy.view(), .b = input.view(), .c = gradient.view(), .transpose_a = true});
    add_to_weight(context, gradient);
    autograd::accumulate(context, x_slot, converted(context, dx, x.dtype()));
  }

  void add_to_weight(Context& context, const Tensor& gradient) const {
    autograd::accumulate_parameter(
        context, *weight, [&](const device::TensorView& sink, bool accumulate) {
          if (accumulate) {
            context.launch(kernels::Add{.a = sink, .b = gradient.view(), .y = sink});
          } else {
            context.launch(kernels::Cast{.x = gradient.view(), .y = sink});
          }
        });
  }
};

}  // namespace

Var router_logits(Context& context, const Var& x, Parameter& weight, DType dtype) {
  if (x.value.dtype() == dtype) {
    return linear(context, x, weight, nullptr);
  }
  context.use(weight);
  const Tensor input = converted(context, x.value, dtype);
  const Tensor wide = converted(context, weight.value, dtype);
  const Tensor y = context.empty({x.shape()[0], weight.value.shape()[0]}, dtype);
  context.launch_with_workspace(
      kernels::Matmul{.a = input.view(), .b = wide.view(), .c = y.view(), .transpose_b = true});
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(result.slot, RouterLogitsBackward{x.value, x.slot, &weight});
  }
  return result;
}

}  // namespace mpitron::ops
