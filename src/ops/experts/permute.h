#pragma once
#include "autograd/recomputable.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;
using tensor::Tensor;

// Rows of tokens on their way to experts and back. Numerical contract: kernels/experts/permute.h.

/// [n, h]: row rows[i] of x [t, h], zeros where rows[i] (int64) is negative.
Var permute(Context& context, const Var& x, const Tensor& rows);

/// [t, h]: each row is the sum of the rows of y [n, h] that go to it, in order; the conjugate of
/// permute.
Var unpermute(Context& context, const Var& y, const Tensor& rows, Index t);

/// x[i] * factors[i] for the rows of x [n, h], which is not kept where it comes with a recipe;
/// factors [n], fp32.
Var scale_rows(Context& context, const autograd::Recomputable& x, const Var& factors);

/// The forward pass of scale_rows alone.
Tensor scaled_rows(Context& context, const Tensor& x, const Tensor& factors);

}  // namespace mpitron::ops
