#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

/// x / max(|x|, 1e-12) over the last dimension.
///
/// Numerical contract: kernels/elementwise/unit_rows.h; x is kept for the backward pass.
autograd::Var unit_rows(autograd::Context& context, const autograd::Var& x);

}  // namespace mpitron::ops
