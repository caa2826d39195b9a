#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;
using tensor::Tensor;

/// x itself. When its gradient arrives, `loss`, a value beside it, gets `seed` (of loss's shape) as
/// its own: so a loss that nothing else uses takes part in the backward pass of the main one
/// (MoEAuxLossAutoScaler and MTPLossAutoScaler of the reference).
///
/// Numerical contract: x and its gradient pass unchanged.
Var with_auxiliary_loss(Context& context, const Var& x, const Var& loss, Tensor seed);

/// Adds a loss of which every element gets `seed`.
Var with_auxiliary_loss(Context& context, const Var& x, const Var& loss, double seed);

}  // namespace mpitron::ops
