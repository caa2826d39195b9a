#include "autograd/gradient.h"

#include "kernels/elementwise/elementwise.h"

namespace mpitron::autograd {

void accumulate(Context& context, const Slot& slot, Tensor gradient) {
  if (!slot) {
    return;
  }
  Tensor& sum = slot.gradient();
  if (!sum) {
    sum = std::move(gradient);
    return;
  }
  MPITRON_CHECK(sum.shape().numel() == gradient.numel(), to_string(sum.shape()),
                to_string(gradient.shape()));
  const Tensor a = std::move(sum);
  const Tensor destination = a.unique()          ? a
                             : gradient.unique() ? gradient
                                                 : context.empty(a.shape(), a.dtype());
  context.launch(kernels::Add{.a = a.view(), .b = gradient.view(), .y = destination.view()});
  sum = destination;
}

Tensor take_gradient(const Slot& slot) {
  return slot ? std::move(slot.gradient()) : Tensor{};
}

namespace detail {

bool writes_through_buffer(const Parameter& parameter) {
  if (parameter.frozen || parameter.round_gradient) {
    return true;
  }
  const bool half_sink =
      parameter.main_grad.dtype() == DType::f16 || parameter.main_grad.dtype() == DType::bf16;
  return half_sink && parameter.gradient_written;
}

void add_buffered(Context& context, Parameter& parameter, const Tensor& rounded) {
  if (parameter.frozen) {
    return;
  }
  const tensor::TensorView sink = parameter.main_grad.view();
  if (parameter.gradient_written) {
    context.launch(kernels::Add{.a = sink, .b = rounded.view(), .y = sink});
  } else {
    context.launch(kernels::Cast{.x = rounded.view(), .y = sink});
  }
  parameter.gradient_written = true;
}

}  // namespace detail

GradientSink open_sink(Context& context, Parameter& parameter) {
  MPITRON_CHECK(!parameter.gradient_sent, parameter.name);
  if (detail::writes_through_buffer(parameter)) {
    const Tensor rounded = context.empty(parameter.value.shape(), parameter.value.dtype());
    return {rounded.view(), false, rounded};
  }
  return {parameter.main_grad.view(), parameter.gradient_written};
}

GradientSink open_sink_of_rows(Context& context, Parameter& parameter,
                               const tensor::Shard::Range& rows) {
  GradientSink sink = open_sink(context, parameter);
  if (rows.size() == parameter.value.shape()[0]) {
    return sink;
  }
  if (!sink.accumulate) {
    context.launch(kernels::Fill{.x = sink.destination, .value = 0});
    parameter.gradient_written = parameter.gradient_written || !sink.rounded;
  }
  sink.destination = device::slice(sink.destination, 0, rows.begin, rows.end);
  sink.accumulate = true;
  return sink;
}

void close_sink(Context& context, Parameter& parameter, const GradientSink& sink) {
  if (sink.rounded) {
    detail::add_buffered(context, parameter, sink.rounded);
  } else {
    parameter.gradient_written = true;
  }
}

}  // namespace mpitron::autograd
