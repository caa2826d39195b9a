// A linear layer with normed weights: the effective weight is made for each pass and not kept, and
// the gradient is split into those of direction and length.
#include "ops/linear/weight_normed_linear.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/unit_rows.h"
#include "kernels/linear/matmul.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Context;
using autograd::Parameter;
using tensor::Tensor;

/// The weight and the lengths that its rows had.
struct NormedWeight {
  Tensor weight, norm;  // [out, in], [out]
};

NormedWeight make_weight(Context& context, const Parameter& direction, const Parameter& length) {
  const Tensor& v = direction.value;
  const DType exact = v.dtype() == DType::f64 ? DType::f64 : DType::f32;
  NormedWeight result{context.empty(v.shape(), v.dtype()), context.empty({v.shape()[0]}, exact)};
  context.launch(kernels::UnitRowsForward{.x = v.view(),
                                          .gain = length.value.reshape({v.shape()[0]}).view(),
                                          .y = result.weight.view(),
                                          .norm = result.norm.view()});
  return result;
}

struct WeightNormedLinearNode {
  Tensor x;  // [t, in]
  autograd::Slot slot;
  Shape shape;
  Parameter *direction, *length;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dy = fold_rows(gradient);
    const NormedWeight made = make_weight(context, *direction, *length);
    const Tensor dw = context.empty(made.weight.shape(), made.weight.dtype());
    context.launch_with_workspace(
        kernels::Matmul{.a = dy.view(), .b = x.view(), .c = dw.view(), .transpose_a = true});
    if (slot) {
      const Tensor dx = context.empty(x.shape(), x.dtype());
      context.launch_with_workspace(
          kernels::Matmul{.a = dy.view(), .b = made.weight.view(), .c = dx.view()});
      autograd::accumulate(context, slot, dx.reshape(shape));
    }
    accumulate_weight_norm(context, dw, made.norm);
  }

  void accumulate_weight_norm(Context& context, const Tensor& dw, const Tensor& norm) const {
    if (direction->role.frozen) {
      return;
    }
    const Index rows = dw.shape()[0];
    kernels::UnitRowsBackward kernel{.x = direction->value.view(),
                                     .dy = dw.view(),
                                     .gain = length->value.reshape({rows}).view(),
                                     .norm = norm.view(),
                                     .dx = {},
                                     .dgain = {}};
    const autograd::GradientWrite sink = autograd::open_sink(context, *direction);
    kernel.dx = sink.destination;
    kernel.accumulate = sink.accumulate;
    if (length->role.frozen) {
      context.launch(kernel);
    } else {
      const autograd::GradientWrite lengths = autograd::open_sink(context, *length);
      MPITRON_CHECK(lengths.accumulate == sink.accumulate, length->name);
      kernel.dgain = lengths.destination;
      context.launch(kernel);
      autograd::close_sink(context, *length, lengths);
    }
    autograd::close_sink(context, *direction, sink);
  }
};

}  // namespace

autograd::Var weight_normed_linear(Context& context, const autograd::Var& x, Parameter& direction,
                                   Parameter& length) {
  context.use(direction);
  context.use(length);
  const Tensor rows = fold_rows(x.value);
  const NormedWeight made = make_weight(context, direction, length);
  const Index outputs = made.weight.shape()[0];
  const Tensor y = context.empty({rows.shape()[0], outputs}, rows.dtype());
  context.launch_with_workspace(kernels::Matmul{
      .a = rows.view(), .b = made.weight.view(), .c = y.view(), .transpose_b = true});
  Shape shape = x.shape();
  shape[-1] = outputs;
  autograd::Var result = autograd::variable(y.reshape(shape));
  if (context.recording()) {
    context.record(result.slot,
                   WeightNormedLinearNode{rows, x.slot, x.shape(), &direction, &length});
  }
  return result;
}

}  // namespace mpitron::ops
