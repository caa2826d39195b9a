#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// x [t, h] times the transposed weight [E, h], both converted to `dtype` first: logits [t, E] in
/// dtype (--moe-router-dtype). The weight's gradient is added from the product in dtype.
///
/// Numerical contract: kernels/linear/matmul.h in dtype; conversions round once.
Var router_logits(Context& context, const Var& x, Parameter& weight, DType dtype);

}  // namespace mpitron::ops
