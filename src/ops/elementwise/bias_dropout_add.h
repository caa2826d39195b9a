#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"
#include "kernels/elementwise/dropout.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// The mask of one site in this microbatch; no dropout when evaluating or with probability 0.
kernels::DropoutMask dropout_mask(const Context& context, double probability, std::uint32_t layer,
                                  std::uint32_t site);

/// The part of a mask that concerns this rank's piece of `s_local` rows, where activations between
/// the layers are cut along s; else the mask itself.
kernels::DropoutMask local_mask(const kernels::DropoutMask& mask, const TensorParallel& shared,
                                Index s_local);

/// y = residual + dropout(x + bias) on [s, b, h]. The residual may be wider than x (an fp32
/// residual stream) or absent (an empty Var); y has its type.
///
/// Numerical contract: kernels/elementwise/dropout.h.
Var bias_dropout_add(Context& context, const Var& x, Parameter* bias, const Var& residual,
                     const kernels::DropoutMask& mask);

}  // namespace mpitron::ops
