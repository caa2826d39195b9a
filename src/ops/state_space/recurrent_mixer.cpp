// Runs what stands between the projections of a recurrent mixer as one op: convolution, recurrence
// and gated norm.
#include "ops/state_space/recurrent_mixer.h"

#include "autograd/cached_pass.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/parallel/collectives.h"
#include "ops/state_space/causal_conv.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

Tensor columns_of(const Tensor& x, const RecurrentMixer::Columns& columns) {
  return x.slice(2, columns.begin, columns.end);
}

CausalConv conv_of(const RecurrentMixer& mixer) {
  return {mixer.conv_weight, mixer.conv_bias,
          mixer.exchange.own_rows(mixer.channels.begin, mixer.channels.end)};
}

/// Whole sequences of this rank's heads.
RecurrenceInputs inner_inputs(Context& context, const RecurrentMixer& mixer,
                              const Tensor& projected, const Tensor& starts) {
  if (!mixer.exchange.shared()) {
    return {columns_of(projected, mixer.channels), columns_of(projected, mixer.steps), starts, {}};
  }
  const Tensor mine = mixer.exchange.to_heads(context, projected);
  Index channels = 0;
  for (const auto& rows : conv_of(mixer).rows) {
    channels += rows.size();
  }
  return {mine.slice(2, 0, channels), mine.slice(2, channels, mine.shape()[2]), starts,
          mixer.exchange.share()};
}

void use_parameters(Context& context, const RecurrentMixer& mixer) {
  context.use(*mixer.conv_weight);
  if (mixer.conv_bias != nullptr) {
    context.use(*mixer.conv_bias);
  }
  std::visit(
      [&](const auto& settings) {
        for (Parameter* parameter : settings.parameters()) {
          context.use(*parameter);
        }
      },
      mixer.recurrence);
  context.use(*mixer.norm.weight);
}

/// Backward pass of a mixer. Of the forward pass it keeps the projection, the inputs of
/// convolution, recurrence and norm, and the states before chunks.
struct RecurrentMixerBackward {
  Tensor projected;
  Slot slot;
  RecurrentMixer mixer;
  RecurrenceInputs inner;
  Tensor convolved, states, y, rstd;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor to_projected = context.empty(projected.shape(), projected.dtype());
    const Tensor to_y = context.empty(y.shape(), y.dtype());
    gated_norm_backward(context, mixer.norm,
                        {.x = y,
                         .z = columns_of(projected, mixer.gate),
                         .rstd = rstd,
                         .dy = gradient,
                         .dx = to_y,
                         .dz = columns_of(to_projected, mixer.gate)});
    if (mixer.exchange.shared()) {
      through_exchange(context, to_y, to_projected);
    } else {
      through_recurrence(context, to_y, columns_of(to_projected, mixer.channels),
                         columns_of(to_projected, mixer.steps));
    }
    autograd::accumulate(context, slot, to_projected);
  }

 private:
  void through_exchange(Context& context, const Tensor& to_y, const Tensor& to_projected) const {
    const Index channels = inner.channels.shape()[2];
    Shape shape = inner.channels.shape();
    shape[2] += inner.steps.shape()[2];
    const Tensor to_inner = context.empty(shape, projected.dtype());
    through_recurrence(context, mixer.exchange.cut_heads(context, to_y),
                       to_inner.slice(2, 0, channels), to_inner.slice(2, channels, shape[2]));
    mixer.exchange.to_sequence(context, to_inner, to_projected);
  }
  void through_recurrence(Context& context, const Tensor& to_y, const Tensor& to_channels,
                          const Tensor& to_steps) const {
    const Tensor to_convolved = context.empty(convolved.shape(), convolved.dtype());
    RecurrenceInputs behind_conv = inner;
    behind_conv.channels = convolved;
    std::visit(
        [&](const auto& settings) {
          recur_backward(
              context, settings, behind_conv,
              {.states = states, .dy = to_y, .channels = to_convolved, .steps = to_steps});
        },
        mixer.recurrence);
    convolve_backward(context, conv_of(mixer), inner, to_convolved, to_channels);
  }
};

/// Runs the recurrence on this rank's piece of the rows of a cached pass.
Tensor recur_cached(Context& context, const RecurrentMixer& mixer, const Tensor& projected) {
  comm::Group* const ranks = mixer.exchange.group();
  const bool shared = mixer.exchange.shared();
  const Tensor all = shared ? join_first(context, projected, *ranks) : projected;
  const CausalConv conv{mixer.conv_weight, mixer.conv_bias, {}};
  const RecurrenceInputs inner{
      convolved_cached(context, conv, columns_of(all, mixer.channels), mixer.number),
      columns_of(all, mixer.steps),
      {},
      {}};
  const Tensor y = context.empty({all.shape()[0], 1, mixer.gate.size()}, all.dtype());
  if (shared) {  // rows that only fill up the pieces
    context.launch(kernels::Fill{.x = y.view(), .value = 0});
  }
  std::visit([&](const auto& settings) { recur_cached(context, settings, inner, mixer.number, y); },
             mixer.recurrence);
  return shared ? piece_of_first(context, y, *ranks) : y;
}

}  // namespace

Var recurrent_mixer(Context& context, const Var& projected, const RecurrentMixer& mixer,
                    const Tensor& starts) {
  use_parameters(context, mixer);
  if (context.cached != nullptr) {
    MPITRON_CHECK(!context.recording() && !starts, mixer.number);
    const Tensor y = recur_cached(context, mixer, projected.value);
    return autograd::variable(
        gated_norm(context, mixer.norm, y, columns_of(projected.value, mixer.gate)).y);
  }
  const RecurrenceInputs inner = inner_inputs(context, mixer, projected.value, starts);
  RecurrenceInputs behind_conv = inner;
  behind_conv.channels = convolved(context, conv_of(mixer), inner.channels, starts);
  const Recurred recurred =
      std::visit([&](const auto& settings) { return recur(context, settings, behind_conv); },
                 mixer.recurrence);
  const Tensor y =
      mixer.exchange.shared() ? mixer.exchange.join_heads(context, recurred.y) : recurred.y;
  const GatedNorm normed =
      gated_norm(context, mixer.norm, y, columns_of(projected.value, mixer.gate));
  Var result = autograd::variable(normed.y);
  if (context.recording()) {
    context.record(result.slot,
                   RecurrentMixerBackward{projected.value, projected.slot, mixer, inner,
                                          behind_conv.channels, recurred.states, y, normed.rstd});
  }
  return result;
}

}  // namespace mpitron::ops
