#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

/// x in another type; x itself where it has it already.
///
/// Numerical contract: one rounding in either direction (kernels/elementwise/elementwise.h, Cast).
autograd::Var cast(autograd::Context& context, const autograd::Var& x, DType dtype);

/// Converts a tensor that the tape does not know.
tensor::Tensor converted(autograd::Context& context, const tensor::Tensor& x, DType dtype);

}  // namespace mpitron::ops
