// Brings rows to unit length. The norms are kept for the backward pass, which projects the gradient
// off the row.
#include "ops/elementwise/unit_rows.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/unit_rows.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

struct UnitRowsNode {
  Tensor x, norm;  // [t, h], [t]
  autograd::Slot slot;
  Shape shape;

  void operator()(autograd::Context& context, const Tensor& gradient) const {
    const Tensor dx = context.empty(x.shape(), x.dtype()), dy = fold_rows(gradient);
    context.launch(kernels::UnitRowsBackward{.x = x.view(),
                                             .dy = dy.view(),
                                             .gain = {},
                                             .norm = norm.view(),
                                             .dx = dx.view(),
                                             .dgain = {}});
    autograd::accumulate(context, slot, dx.reshape(shape));
  }
};

}  // namespace

autograd::Var unit_rows(autograd::Context& context, const autograd::Var& x) {
  const Tensor rows = fold_rows(x.value);
  const DType exact = x.value.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor y = context.empty(rows.shape(), rows.dtype());
  const Tensor norm = context.empty({rows.shape()[0]}, exact);
  context.launch(
      kernels::UnitRowsForward{.x = rows.view(), .gain = {}, .y = y.view(), .norm = norm.view()});
  autograd::Var result = autograd::variable(y.reshape(x.shape()));
  if (context.recording()) {
    context.record(result.slot, UnitRowsNode{rows, norm, x.slot, x.shape()});
  }
  return result;
}

}  // namespace mpitron::ops
