#pragma once
#include <utility>

#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

// Columns of [..., h] taken apart and joined, each part contiguous.
//
// Numerical contract: copies; a part without a gradient counts as zeros.

/// The first `columns` columns of x, and the others.
std::pair<Var, Var> split_columns(Context& context, const Var& x, Index columns);

/// The columns of `left`, then those of `right`.
Var join_columns(Context& context, const Var& left, const Var& right);

}  // namespace mpitron::ops
