// Activations with their bias, plain or gated. The input is kept and the slope computed from it
// again; the bias's gradient is summed over the rows of dx.
#include "ops/elementwise/activation.h"

#include "ops/elementwise/bias_dropout_add.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

struct ActivationBackward {
  Tensor x;
  Slot x_slot;
  Parameter* bias;
  ActivationSettings settings;

  void operator()(Context& context, Tensor gradient) const {
    // The gradient of a plain activation may overwrite dy; a gated one is twice as wide.
    const Tensor dx =
        !settings.gated && gradient.unique() ? gradient : context.empty(x.shape(), x.dtype());
    const Tensor x_rows = fold_rows(x), dy = fold_rows(gradient), dx_rows = fold_rows(dx);
    if (settings.gated) {
      context.launch(kernels::GatedActivationBackward{.x = x_rows.view(),
                                                      .dy = dy.view(),
                                                      .bias = value_of(bias),
                                                      .dx = dx_rows.view(),
                                                      .activation = settings.activation,
                                                      .limits = settings.limits});
    } else {
      context.launch(kernels::BiasActivationBackward{.x = x_rows.view(),
                                                     .dy = dy.view(),
                                                     .bias = value_of(bias),
                                                     .dx = dx_rows.view(),
                                                     .activation = settings.activation});
    }
    accumulate_bias(context, bias, dx);
    autograd::accumulate(context, x_slot, dx);
  }
};

}  // namespace

Var activation(Context& context, const Var& x, Parameter* bias,
               const ActivationSettings& settings) {
  if (bias != nullptr) {
    context.use(*bias);
  }
  Shape shape = x.shape();
  shape[-1] /= settings.gated ? 2 : 1;
  const Tensor y = context.empty(shape, x.value.dtype());
  const Tensor x_rows = fold_rows(x.value), y_rows = fold_rows(y);
  if (settings.gated) {
    context.launch(kernels::GatedActivationForward{.x = x_rows.view(),
                                                   .bias = value_of(bias),
                                                   .y = y_rows.view(),
                                                   .activation = settings.activation,
                                                   .limits = settings.limits});
  } else {
    context.launch(kernels::BiasActivationForward{.x = x_rows.view(),
                                                  .bias = value_of(bias),
                                                  .y = y_rows.view(),
                                                  .activation = settings.activation});
  }
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(result.slot, ActivationBackward{x.value, x.slot, bias, settings});
  }
  return result;
}

}  // namespace mpitron::ops
