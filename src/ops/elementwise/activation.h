#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"
#include "kernels/elementwise/activation.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;
using kernels::Activation;

/// y = activation(x + bias); gated: x = [gate, up] along the last dimension and y =
/// activation(gate) * up.
struct ActivationSettings {
  Activation activation = Activation::gelu_tanh;
  bool gated = false;
  kernels::GateLimits limits = {};
};

/// Numerical contract: activation.h; the bias's gradient is the sum of dx over rows (fp32,
/// fixed blocks).
Var activation(Context& context, const Var& x, Parameter* bias, const ActivationSettings& settings);

}  // namespace mpitron::ops
