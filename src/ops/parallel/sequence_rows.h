#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

// Pieces of the first dimension, s, of activations [s, ...] on one rank. Nothing is rounded.

/// Rows [first, last) of x.
Var take_rows(Context& context, const Var& x, Index first, Index last);
/// The rows of a, then those of b.
Var join_rows(Context& context, const Var& a, const Var& b);

}  // namespace mpitron::ops
