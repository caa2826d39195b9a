#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// Rows of one matrix in another order, and where they come from.
struct RowChoice {
  tensor::Tensor rows;  // [n], int64: which row of x each of y is; -1: zeros
  tensor::Tensor from;  // [r], int64: which row of y each of x became, at most one; -1: none
};

/// y [n, h] of x [r, h].
///
/// Numerical contract: copies, in either direction.
Var select_rows(Context& context, const Var& x, const RowChoice& choice);

}  // namespace mpitron::ops
