#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

/// x * factor. Numerical contract: kernels::Scale, forward and backward.
autograd::Var scaled(autograd::Context& context, const autograd::Var& x, double factor);

}  // namespace mpitron::ops
