#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// factor * sum over the last dimension of (x - target)^2: [..., h] -> [...], fp32.
///
/// Numerical contract: kernels/elementwise/row_error.h; x is kept for the backward pass.
Var row_error(Context& context, const Var& x, const tensor::Tensor& target, double factor);

/// 1 where the largest of logits [..., v] is that of the label, else 0: like labels, fp32. Of
/// logits that nothing has overwritten yet.
///
/// Numerical contract: kernels/elementwise/row_error.h.
tensor::Tensor label_matches(Context& context, const tensor::Tensor& logits,
                             const tensor::Tensor& labels);

}  // namespace mpitron::ops
