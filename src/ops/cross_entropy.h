#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// The loss of every token, [s, b] fp32, from logits [s, b, v] and labels [s, b] int64. Backward
/// overwrites the logits, the largest buffer of a step, with their gradient.
///
/// Numerical contract: kernels/cross_entropy.h.
Var cross_entropy(Context& context, const Var& logits, const tensor::Tensor& labels,
                  float label_smoothing = 0);

}  // namespace mpitron::ops
