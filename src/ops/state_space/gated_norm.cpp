// RMS norms of head groups, gated by a second tensor (Mamba's and delta nets' output norm); one
// kernel forward, one backward.
#include "ops/state_space/gated_norm.h"

#include "kernels/state_space/gated_norm.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

/// [s, b, n, f] of x [s, b, n f], which may be columns of something wider; f of the weight.
device::TensorView rows_of(const Tensor& x, const GatedNormSettings& settings) {
  const device::TensorView view = x.view();
  const Index f = settings.weight->value.numel();
  MPITRON_CHECK(view.shape.rank() == 3 && view.size(2) % f == 0, to_string(view.shape), f);
  return {view.data,
          view.dtype,
          {view.size(0), view.size(1), view.size(2) / f, f},
          {view.stride(0), view.stride(1), f, 1}};
}

}  // namespace

GatedNorm gated_norm(Context& context, const GatedNormSettings& settings, const Tensor& x,
                     const Tensor& z) {
  MPITRON_CHECK(x.shape() == z.shape(), to_string(x.shape()), to_string(z.shape()));
  const Index rows = x.numel() / settings.weight->value.numel();
  const DType kept = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  GatedNorm result{context.empty(x.shape(), x.dtype()),
                   context.empty({rows, settings.groups}, kept)};
  context.launch(kernels::GatedNormForward{.x = rows_of(x, settings),
                                           .z = rows_of(z, settings),
                                           .weight = settings.weight->value.view(),
                                           .y = rows_of(result.y, settings),
                                           .rstd = result.rstd.view(),
                                           .groups = settings.groups,
                                           .eps = settings.eps,
                                           .gate_first = settings.gate_first});
  return result;
}

void gated_norm_backward(Context& context, const GatedNormSettings& settings,
                         const GatedNormPass& pass) {
  const autograd::GradientWrite sink = autograd::open_sink(context, *settings.weight);
  context.launch_with_workspace(kernels::GatedNormBackward{.x = rows_of(pass.x, settings),
                                                           .z = rows_of(pass.z, settings),
                                                           .dy = rows_of(pass.dy, settings),
                                                           .weight = settings.weight->value.view(),
                                                           .rstd = pass.rstd.view(),
                                                           .dx = rows_of(pass.dx, settings),
                                                           .dz = rows_of(pass.dz, settings),
                                                           .dweight = sink.destination,
                                                           .workspace = {},
                                                           .groups = settings.groups,
                                                           .gate_first = settings.gate_first,
                                                           .accumulate = sink.accumulate});
  autograd::close_sink(context, *settings.weight, sink);
}

}  // namespace mpitron::ops
