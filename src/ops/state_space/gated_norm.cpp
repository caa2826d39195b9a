#include "ops/state_space/gated_norm.h"

#include "autograd/gradient.h"
#include "kernels/state_space/gated_norm.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// [t, f], f of the weight.
Tensor rows_of(const Tensor& x, const GatedNormSettings& settings) {
  const Index f = settings.weight->value.numel();
  return x.reshape({x.numel() / f, f});
}

struct GatedNormBackward {
  Tensor x, z, rstd;
  Slot x_slot, z_slot;
  GatedNormSettings settings;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dx = context.empty(x.shape(), x.dtype()), dz = context.empty(x.shape(), x.dtype());
    autograd::accumulate_parameter(
        context, *settings.weight, [&](const device::TensorView& sink, bool accumulate) {
          context.launch_with_workspace(
              kernels::GatedNormBackward{.x = rows_of(x, settings).view(),
                                         .z = rows_of(z, settings).view(),
                                         .dy = rows_of(gradient, settings).view(),
                                         .weight = settings.weight->value.view(),
                                         .rstd = rstd.view(),
                                         .dx = rows_of(dx, settings).view(),
                                         .dz = rows_of(dz, settings).view(),
                                         .dweight = sink,
                                         .workspace = {},
                                         .groups = settings.groups,
                                         .gate_first = settings.gate_first,
                                         .accumulate = accumulate});
        });
    autograd::accumulate(context, x_slot, dx);
    autograd::accumulate(context, z_slot, dz);
  }
};

}  // namespace

Var gated_norm(Context& context, const Var& x, const Var& z, const GatedNormSettings& settings) {
  MPITRON_CHECK(x.shape() == z.shape(), to_string(x.shape()), to_string(z.shape()));
  context.use(*settings.weight);
  Var result = autograd::variable(context.empty(x.shape(), x.value.dtype()));
  const Tensor rows = rows_of(x.value, settings);
  const DType kept = x.value.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor rstd = context.empty({rows.shape()[0], settings.groups}, kept);
  context.launch(kernels::GatedNormForward{.x = rows.view(),
                                           .z = rows_of(z.value, settings).view(),
                                           .weight = settings.weight->value.view(),
                                           .y = rows_of(result.value, settings).view(),
                                           .rstd = rstd.view(),
                                           .groups = settings.groups,
                                           .eps = settings.eps,
                                           .gate_first = settings.gate_first});
  if (context.recording()) {
    context.record(result.slot,
                   GatedNormBackward{x.value, z.value, rstd, x.slot, z.slot, settings});
  }
  return result;
}

}  // namespace mpitron::ops
