#include "ops/state_space/causal_conv.h"

#include "autograd/gradient.h"
#include "kernels/state_space/causal_conv.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

device::ConstTensorView value_of(const Parameter* parameter) {
  return parameter == nullptr ? device::ConstTensorView{} : parameter->value.view();
}

struct CausalConvBackward {
  Tensor x;
  Slot x_slot;
  Parameter* weight;
  Parameter* bias;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dx = context.empty(x.shape(), x.dtype());
    const autograd::GradientWrite to_weight = autograd::open_sink(context, *weight);
    kernels::CausalConvBackward kernel{.x = x.view(),
                                       .dy = gradient.view(),
                                       .weight = weight->value.view(),
                                       .bias = value_of(bias),
                                       .dx = dx.view(),
                                       .dweight = to_weight.destination,
                                       .dbias = {},
                                       .accumulate_weight = to_weight.accumulate};
    autograd::GradientWrite to_bias;
    if (bias != nullptr) {
      to_bias = autograd::open_sink(context, *bias);
      kernel.dbias = to_bias.destination;
      kernel.accumulate_bias = to_bias.accumulate;
    }
    context.launch(kernel);
    autograd::close_sink(context, *weight, to_weight);
    if (bias != nullptr) {
      autograd::close_sink(context, *bias, to_bias);
    }
    autograd::accumulate(context, x_slot, dx);
  }
};

}  // namespace

Var causal_conv(Context& context, const Var& x, Parameter& weight, Parameter* bias) {
  context.use(weight);
  if (bias != nullptr) {
    context.use(*bias);
  }
  Var result = autograd::variable(context.empty(x.shape(), x.value.dtype()));
  context.launch(kernels::CausalConvForward{.x = x.value.view(),
                                            .weight = weight.value.view(),
                                            .bias = value_of(bias),
                                            .y = result.value.view()});
  if (context.recording()) {
    context.record(result.slot, CausalConvBackward{x.value, x.slot, &weight, bias});
  }
  return result;
}

}  // namespace mpitron::ops
