#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

/// bound * tanh(x / bound).
///
/// Numerical contract: kernels::Scale, the tanh of activation.h, and Scale again, each rounded to
/// x's type, as in Gemma's own code.
autograd::Var soft_capped(autograd::Context& context, const autograd::Var& x, double bound);

}  // namespace mpitron::ops
