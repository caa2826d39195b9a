// Causal convolutions over the sequence, with the few rows before a piece as a state in generation.
// Parameters of this rank's channels are rows of the whole ones.
#include "ops/state_space/causal_conv.h"

#include "autograd/cached_pass.h"
#include "kernels/state_space/cached_recurrence.h"
#include "kernels/state_space/causal_conv.h"
#include "ops/elementwise/cast.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;
using Range = tensor::Shard::Range;

device::ConstTensorView rows_of(const Parameter* parameter, const Range& rows) {
  return parameter == nullptr ? device::ConstTensorView{}
                              : parameter->value.slice(0, rows.begin, rows.end).view();
}

device::ConstTensorView optional_view(const Tensor& x) {
  return x ? x.view() : device::ConstTensorView{};
}

/// f(rows of the parameters, first and last of the channels) one after the other.
template <class F>
void for_channels(const CausalConv& conv, F&& f) {
  Index at = 0;
  for (const Range& rows : conv.rows) {
    f(rows, at, at + rows.size());
    at += rows.size();
  }
}

}  // namespace

Tensor convolved(Context& context, const CausalConv& conv, const Tensor& x, const Tensor& starts) {
  const Tensor y = context.empty(x.shape(), x.dtype());
  for_channels(conv, [&](const Range& rows, Index begin, Index end) {
    context.launch(kernels::CausalConvForward{.x = x.slice(2, begin, end).view(),
                                              .weight = rows_of(conv.weight, rows),
                                              .bias = rows_of(conv.bias, rows),
                                              .starts = optional_view(starts),
                                              .y = y.slice(2, begin, end).view()});
  });
  return y;
}

Tensor convolved_cached(Context& context, const CausalConv& conv, const Tensor& x, Index number) {
  const autograd::CachedPass& pass = *context.cached;
  const Index before = conv.weight->value.shape()[2] - 1;
  const DType kept = pass.states.types().of_conv(x.dtype());
  const Tensor& states = pass.states.of(number, 0, {before, x.shape()[2]}, kept);
  const Tensor inputs = converted(context, x, kept);
  const Tensor y = context.empty(x.shape(), x.dtype());
  context.launch(kernels::CachedConv{
      .x = inputs.view(),
      .weight = conv.weight->value.view(),
      .bias = conv.bias == nullptr ? device::ConstTensorView{} : conv.bias->value.view(),
      .states = states.view(),
      .y = y.view(),
      .pieces = pass.pieces});
  return y;
}

void convolve_backward(Context& context, const CausalConv& conv, const RecurrenceInputs& inputs,
                       const Tensor& dy, const Tensor& dx) {
  for_channels(conv, [&](const Range& rows, Index begin, Index end) {
    const auto cut = [&](const Tensor& x) { return x.slice(2, begin, end).view(); };
    const autograd::GradientWrite to_weight =
        autograd::open_sink_of_rows(context, *conv.weight, rows);
    kernels::CausalConvBackward kernel{.x = cut(inputs.channels),
                                       .dy = cut(dy),
                                       .weight = rows_of(conv.weight, rows),
                                       .bias = rows_of(conv.bias, rows),
                                       .starts = optional_view(inputs.starts),
                                       .dx = cut(dx),
                                       .dweight = to_weight.destination,
                                       .dbias = {},
                                       .accumulate_weight = to_weight.accumulate,
                                       .workspace = {}};
    autograd::GradientWrite to_bias;
    if (conv.bias != nullptr) {
      to_bias = autograd::open_sink_of_rows(context, *conv.bias, rows);
      kernel.dbias = to_bias.destination;
      kernel.accumulate_bias = to_bias.accumulate;
    }
    context.launch_with_workspace(kernel);
    autograd::close_sink(context, *conv.weight, to_weight);
    if (conv.bias != nullptr) {
      autograd::close_sink(context, *conv.bias, to_bias);
    }
  });
}

}  // namespace mpitron::ops
