#pragma once
#include <utility>

#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// x[..., h] as its first `columns` columns and the others, each contiguous.
///
/// Numerical contract: copies; in backward a part without a gradient counts as zeros.
std::pair<Var, Var> split_columns(Context& context, const Var& x, Index columns);

}  // namespace mpitron::ops
