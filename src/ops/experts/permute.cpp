// Moves tokens to the order of their experts and back. Each op is the other's backward pass, as
// copying rows and adding them are transposes of each other.
#include "ops/experts/permute.h"

#include "autograd/gradient.h"
#include "kernels/experts/permute.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;

Tensor permuted(Context& context, const Tensor& x, const Tensor& rows) {
  const Tensor y = context.empty({rows.numel(), x.shape()[1]}, x.dtype());
  context.launch(kernels::Permute{.x = x.view(), .rows = rows.view(), .y = y.view()});
  return y;
}

Tensor unpermuted(Context& context, const Tensor& y, const Tensor& rows, Index t) {
  const Tensor x = context.empty({t, y.shape()[1]}, y.dtype());
  context.launch_with_workspace(
      kernels::Unpermute{.y = y.view(), .rows = rows.view(), .x = x.view()});
  return x;
}

struct ScaleRowsBackward {
  autograd::SavedValue x;
  Tensor factors;
  Slot x_slot, factors_slot;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor input = x(context);
    const Tensor dx = context.empty(input.shape(), input.dtype());
    const Tensor dfactors = context.empty(factors.shape(), factors.dtype());
    context.launch(kernels::ScaleRowsBackward{.dy = gradient.view(),
                                              .x = input.view(),
                                              .factors = factors.view(),
                                              .dx = dx.view(),
                                              .dfactors = dfactors.view()});
    autograd::accumulate(context, x_slot, dx);
    autograd::accumulate(context, factors_slot, dfactors);
  }
};

}  // namespace

Var permute(Context& context, const Var& x, const Tensor& rows) {
  Var result = autograd::variable(permuted(context, x.value, rows));
  if (context.recording()) {
    context.record(result.slot, [x_slot = x.slot, rows, t = x.shape()[0]](Context& inner,
                                                                          const Tensor& gradient) {
      autograd::accumulate(inner, x_slot, unpermuted(inner, gradient, rows, t));
    });
  }
  return result;
}

Var unpermute(Context& context, const Var& y, const Tensor& rows, Index t) {
  Var result = autograd::variable(unpermuted(context, y.value, rows, t));
  if (context.recording()) {
    context.record(result.slot, [y_slot = y.slot, rows](Context& inner, const Tensor& gradient) {
      autograd::accumulate(inner, y_slot, permuted(inner, gradient, rows));
    });
  }
  return result;
}

Tensor scaled_rows(Context& context, const Tensor& x, const Tensor& factors) {
  const Tensor y = context.empty(x.shape(), x.dtype());
  context.launch(kernels::ScaleRows{.x = x.view(), .factors = factors.view(), .y = y.view()});
  return y;
}

Var scale_rows(Context& context, const autograd::Recomputable& x, const Var& factors) {
  Var result = autograd::variable(scaled_rows(context, x.var.value, factors.value));
  if (context.recording()) {
    context.record(result.slot, ScaleRowsBackward{autograd::SavedValue(x), factors.value,
                                                  x.var.slot, factors.slot});
  }
  return result;
}

}  // namespace mpitron::ops
