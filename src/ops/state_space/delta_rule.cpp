// Runs the gated delta rule of a layer: cuts its columns out of the projection and calls the kernel
// for whole sequences, or for the pieces of a pass in generation.
#include "ops/state_space/delta_rule.h"

#include "autograd/cached_pass.h"
#include "kernels/state_space/cached_recurrence.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

/// Columns of queries, keys, values, beta and alpha.
struct DeltaParts {
  Tensor q, k, v, beta, alpha;

  DeltaParts(const Tensor& channels, const Tensor& steps, Index keys) {
    const Index heads = steps.shape()[2] / 2;
    q = channels.slice(2, 0, keys);
    k = channels.slice(2, keys, 2 * keys);
    v = channels.slice(2, 2 * keys, channels.shape()[2]);
    beta = steps.slice(2, 0, heads);
    alpha = steps.slice(2, heads, 2 * heads);
  }
};

Index own_keys(const DeltaRuleSettings& settings, const HeadShare& share) {
  return settings.key_heads / share.size * settings.key_dim;
}

kernels::DeltaRuleInputs delta_inputs(const DeltaRuleSettings& settings,
                                      const RecurrenceInputs& inputs) {
  const DeltaParts parts(inputs.channels, inputs.steps, own_keys(settings, inputs.share));
  return {.q = parts.q.view(),
          .k = parts.k.view(),
          .v = parts.v.view(),
          .beta = parts.beta.view(),
          .alpha = parts.alpha.view(),
          .a_log = own_part(*settings.a_log, inputs.share),
          .dt_bias = own_part(*settings.dt_bias, inputs.share),
          .starts = inputs.starts ? inputs.starts.view() : device::ConstTensorView(),
          .key_heads = settings.key_heads / inputs.share.size};
}

}  // namespace

Recurred recur(Context& context, const DeltaRuleSettings& settings,
               const RecurrenceInputs& inputs) {
  const kernels::DeltaRuleInputs in = delta_inputs(settings, inputs);
  const Index chunks = (in.v.size(0) + settings.chunk - 1) / settings.chunk;
  const DType kept = in.v.dtype == DType::f64 ? DType::f64 : DType::f32;
  const Recurred result{
      .y = context.empty(in.v.shape, in.v.dtype),
      .states = context.empty(
          {chunks * in.v.size(1), in.value_heads(), in.key_dim(), in.value_dim()}, kept)};
  context.launch_with_workspace(kernels::DeltaRuleForward{.in = in,
                                                          .o = result.y.view(),
                                                          .states = result.states.view(),
                                                          .chunk = settings.chunk,
                                                          .workspace = {}});
  return result;
}

void recur_cached(Context& context, const DeltaRuleSettings& settings,
                  const RecurrenceInputs& inputs, Index number, const Tensor& y) {
  const auto in = delta_inputs(settings, inputs);
  const autograd::CachedPass& pass = *context.cached;
  const Tensor& states = pass.states.of(number, 1, {in.value_heads(), in.key_dim(), in.value_dim()},
                                        pass.states.types().of_recurrence());
  context.launch(kernels::CachedDeltaRule{
      .in = in, .states = states.view(), .o = y.view(), .pieces = pass.pieces});
}

void recur_backward(Context& context, const DeltaRuleSettings& settings,
                    const RecurrenceInputs& inputs, const RecurrenceGradients& gradients) {
  const DeltaParts to(gradients.channels, gradients.steps, own_keys(settings, inputs.share));
  const autograd::GradientWrite to_rate = open_own_part(context, *settings.a_log, inputs.share);
  const autograd::GradientWrite to_bias = open_own_part(context, *settings.dt_bias, inputs.share);
  MPITRON_CHECK(to_rate.accumulate == to_bias.accumulate, settings.a_log->name);
  context.launch_with_workspace(kernels::DeltaRuleBackward{.in = delta_inputs(settings, inputs),
                                                           .d_o = gradients.dy.view(),
                                                           .states = gradients.states.view(),
                                                           .dq = to.q.view(),
                                                           .dk = to.k.view(),
                                                           .dv = to.v.view(),
                                                           .dbeta = to.beta.view(),
                                                           .dalpha = to.alpha.view(),
                                                           .da_log = to_rate.destination,
                                                           .ddt_bias = to_bias.destination,
                                                           .chunk = settings.chunk,
                                                           .accumulate = to_rate.accumulate,
                                                           .workspace = {}});
  autograd::close_sink(context, *settings.a_log, to_rate);
  autograd::close_sink(context, *settings.dt_bias, to_bias);
}

}  // namespace mpitron::ops
