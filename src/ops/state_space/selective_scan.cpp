#include "ops/state_space/selective_scan.h"

#include <array>

#include "autograd/gradient.h"
#include "kernels/state_space/selective_scan.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// Columns of x, B and C.
struct ScanParts {
  Tensor x, b, c;

  ScanParts(const Tensor& xbc, const ScanSettings& settings) {
    const Index both = settings.groups * settings.state_dim, end = xbc.shape()[2];
    x = xbc.slice(2, 0, end - 2 * both);
    b = xbc.slice(2, end - 2 * both, end - both);
    c = xbc.slice(2, end - both, end);
  }
};

kernels::ScanInputs scan_inputs(const ScanParts& parts, const Tensor& dt,
                                const ScanSettings& settings) {
  return {.x = parts.x.view(),
          .b = parts.b.view(),
          .c = parts.c.view(),
          .dt = dt.view(),
          .a_log = settings.a_log->value.view(),
          .d = settings.d->value.view(),
          .dt_bias = settings.dt_bias->value.view(),
          .groups = settings.groups};
}

struct ScanBackward {
  Tensor xbc, dt, states;
  Slot xbc_slot, dt_slot;
  ScanSettings settings;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dxbc = context.empty(xbc.shape(), xbc.dtype());
    const Tensor ddt = context.empty(dt.shape(), dt.dtype());
    const ScanParts to(dxbc, settings);
    const std::array parameters = {settings.a_log, settings.d, settings.dt_bias};
    std::array<autograd::GradientWrite, 3> sinks;
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      sinks[i] = autograd::open_sink(context, *parameters[i]);
    }
    context.launch(kernels::SelectiveScanBackward{.in = scan_inputs({xbc, settings}, dt, settings),
                                                  .dy = gradient.view(),
                                                  .states = states.view(),
                                                  .dx = to.x.view(),
                                                  .db = to.b.view(),
                                                  .dc = to.c.view(),
                                                  .ddt = ddt.view(),
                                                  .da_log = sinks[0].destination,
                                                  .dd = sinks[1].destination,
                                                  .ddt_bias = sinks[2].destination,
                                                  .chunk = settings.chunk,
                                                  .accumulate = sinks[0].accumulate});
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      MPITRON_CHECK(sinks[i].accumulate == sinks[0].accumulate, parameters[i]->name);
      autograd::close_sink(context, *parameters[i], sinks[i]);
    }
    autograd::accumulate(context, xbc_slot, dxbc);
    autograd::accumulate(context, dt_slot, ddt);
  }
};

}  // namespace

Var selective_scan(Context& context, const Var& xbc, const Var& dt, const ScanSettings& settings) {
  for (Parameter* parameter : {settings.a_log, settings.d, settings.dt_bias}) {
    context.use(*parameter);
  }
  const ScanParts parts(xbc.value, settings);
  const Index s = xbc.shape()[0], b = xbc.shape()[1], heads = dt.shape()[2];
  Var result = autograd::variable(context.empty(parts.x.shape(), xbc.value.dtype()));
  Tensor states;
  if (context.recording()) {
    const DType kept = xbc.value.dtype() == DType::f64 ? DType::f64 : DType::f32;
    states = context.empty({(s + settings.chunk - 1) / settings.chunk * b, heads,
                            settings.state_dim, parts.x.shape()[2] / heads},
                           kept);
  }
  kernels::SelectiveScanForward kernel{.in = scan_inputs(parts, dt.value, settings),
                                       .y = result.value.view(),
                                       .states = {},
                                       .chunk = settings.chunk};
  if (states) {
    kernel.states = states.view();
  }
  context.launch(kernel);
  if (context.recording()) {
    context.record(result.slot,
                   ScanBackward{xbc.value, dt.value, states, xbc.slot, dt.slot, settings});
  }
  return result;
}

}  // namespace mpitron::ops
