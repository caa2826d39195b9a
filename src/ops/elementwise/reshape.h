#pragma once
#include <utility>

#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// x under another shape of as many elements; the memory is x's.
autograd::Var reshape(autograd::Context& context, const autograd::Var& x, const Shape& shape);

// Columns of [..., h] taken apart and joined, each part contiguous.
//
// Numerical contract: copies; a part without a gradient counts as zeros.

/// The first `columns` columns of x, and the others.
std::pair<Var, Var> split_columns(Context& context, const Var& x, Index columns);

/// The columns of `left`, then those of `right`.
Var join_columns(Context& context, const Var& left, const Var& right);

}  // namespace mpitron::ops
