#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"
#include "autograd/recomputable.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Recomputable;
using autograd::Var;

/// y[..., out] = x[..., in] weight[out, in]^T (+ bias[out]).
///
/// Numerical contract: products accumulate in fp32 and are rounded once; the weight's gradient is
/// added to main_grad in main_grad's type by the product itself, the bias's over fixed blocks of
/// rows.
Var linear(Context& context, const Recomputable& x, Parameter& weight, Parameter* bias);

}  // namespace mpitron::ops
