// Adds gradients to slots and sinks. Kernels write into a sink directly; where the gradient is to
// be rounded first, or a sink in half precision holds some already, into a buffer that is added
// once.
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
  if (parameter.role.frozen || parameter.sink.rounds) {
    return true;
  }
  const bool half_sink = parameter.sink.main_grad.dtype() == DType::f16 ||
                         parameter.sink.main_grad.dtype() == DType::bf16;
  return half_sink && parameter.sink.written;
}

void add_buffered(Context& context, Parameter& parameter, const Tensor& rounded) {
  if (parameter.role.frozen) {
    return;
  }
  const tensor::TensorView sink = parameter.sink.main_grad.view();
  if (parameter.sink.written) {
    context.launch(kernels::Add{.a = sink, .b = rounded.view(), .y = sink});
  } else {
    context.launch(kernels::Cast{.x = rounded.view(), .y = sink});
  }
  parameter.sink.written = true;
}

}  // namespace detail

GradientWrite open_sink(Context& context, Parameter& parameter) {
  MPITRON_CHECK(!parameter.sink.sent, parameter.name);
  if (detail::writes_through_buffer(parameter)) {
    const Tensor rounded = context.empty(parameter.value.shape(), parameter.value.dtype());
    return {rounded.view(), false, rounded};
  }
  return {parameter.sink.main_grad.view(), parameter.sink.written};
}

/// The first write makes all of it zero, so that the rows of others are.
GradientWrite open_sink_of_rows(Context& context, Parameter& parameter,
                                const tensor::Shard::Range& rows) {
  GradientWrite write = open_sink(context, parameter);
  if (rows.size() == parameter.value.shape()[0]) {
    return write;
  }
  if (!write.accumulate) {
    context.launch(kernels::Fill{.x = write.destination, .value = 0});
    parameter.sink.written = parameter.sink.written || !write.rounded;
  }
  write.destination = device::slice(write.destination, 0, rows.begin, rows.end);
  write.accumulate = true;
  return write;
}

void close_sink(Context& context, Parameter& parameter, const GradientWrite& write) {
  if (write.rounded) {
    detail::add_buffered(context, parameter, write.rounded);
  } else {
    parameter.sink.written = true;
  }
}

}  // namespace mpitron::autograd
