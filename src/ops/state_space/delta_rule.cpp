#include "ops/state_space/delta_rule.h"

#include "autograd/gradient.h"
#include "kernels/state_space/delta_rule.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// Columns of queries, keys, values, beta and alpha.
struct DeltaParts {
  Tensor q, k, v, beta, alpha;

  DeltaParts(const Tensor& qkv, const Tensor& steps, const DeltaRuleSettings& settings) {
    const Index keys = settings.key_heads * settings.key_dim, heads = steps.shape()[2] / 2;
    q = qkv.slice(2, 0, keys);
    k = qkv.slice(2, keys, 2 * keys);
    v = qkv.slice(2, 2 * keys, qkv.shape()[2]);
    beta = steps.slice(2, 0, heads);
    alpha = steps.slice(2, heads, 2 * heads);
  }
};

kernels::DeltaRuleInputs delta_inputs(const DeltaParts& parts, const DeltaRuleSettings& settings) {
  return {.q = parts.q.view(),
          .k = parts.k.view(),
          .v = parts.v.view(),
          .beta = parts.beta.view(),
          .alpha = parts.alpha.view(),
          .a_log = settings.a_log->value.view(),
          .dt_bias = settings.dt_bias->value.view(),
          .key_heads = settings.key_heads};
}

struct DeltaRuleBackward {
  Tensor qkv, steps, states;
  Slot qkv_slot, steps_slot;
  DeltaRuleSettings settings;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dqkv = context.empty(qkv.shape(), qkv.dtype());
    const Tensor dsteps = context.empty(steps.shape(), steps.dtype());
    const DeltaParts to(dqkv, dsteps, settings);
    const autograd::GradientWrite to_rate = autograd::open_sink(context, *settings.a_log);
    const autograd::GradientWrite to_bias = autograd::open_sink(context, *settings.dt_bias);
    MPITRON_CHECK(to_rate.accumulate == to_bias.accumulate, settings.a_log->name);
    context.launch(kernels::DeltaRuleBackward{.in = delta_inputs({qkv, steps, settings}, settings),
                                              .d_o = gradient.view(),
                                              .states = states.view(),
                                              .dq = to.q.view(),
                                              .dk = to.k.view(),
                                              .dv = to.v.view(),
                                              .dbeta = to.beta.view(),
                                              .dalpha = to.alpha.view(),
                                              .da_log = to_rate.destination,
                                              .ddt_bias = to_bias.destination,
                                              .chunk = settings.chunk,
                                              .accumulate = to_rate.accumulate});
    autograd::close_sink(context, *settings.a_log, to_rate);
    autograd::close_sink(context, *settings.dt_bias, to_bias);
    autograd::accumulate(context, qkv_slot, dqkv);
    autograd::accumulate(context, steps_slot, dsteps);
  }
};

}  // namespace

Var delta_rule(Context& context, const Var& qkv, const Var& steps,
               const DeltaRuleSettings& settings) {
  context.use(*settings.a_log), context.use(*settings.dt_bias);
  const DeltaParts parts(qkv.value, steps.value, settings);
  const Index s = qkv.shape()[0], b = qkv.shape()[1], heads = parts.beta.shape()[2];
  Var result = autograd::variable(context.empty(parts.v.shape(), qkv.value.dtype()));
  kernels::DeltaRuleForward kernel{.in = delta_inputs(parts, settings),
                                   .o = result.value.view(),
                                   .states = {},
                                   .chunk = settings.chunk};
  Tensor states;
  if (context.recording()) {
    const DType kept = qkv.value.dtype() == DType::f64 ? DType::f64 : DType::f32;
    states = context.empty({(s + settings.chunk - 1) / settings.chunk * b, heads, settings.key_dim,
                            parts.v.shape()[2] / heads},
                           kept);
    kernel.states = states.view();
  }
  context.launch(kernel);
  if (context.recording()) {
    context.record(result.slot, DeltaRuleBackward{qkv.value, steps.value, states, qkv.slot,
                                                  steps.slot, settings});
  }
  return result;
}

}  // namespace mpitron::ops
