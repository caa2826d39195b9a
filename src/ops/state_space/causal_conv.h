#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// silu(a depthwise convolution of x [s, b, c] along s that sees no later position), with a weight
/// [c, 1, w] and a bias [c], or null.
///
/// Numerical contract: kernels/state_space/causal_conv.h; x is kept, the convolution computed again
/// in backward.
Var causal_conv(Context& context, const Var& x, Parameter& weight, Parameter* bias);

}  // namespace mpitron::ops
