#pragma once
#include <span>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/recomputable.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Recomputable;
using autograd::Var;

/// The rows of x [m, in] lie group after group, counts[e] of them in group e: y [m, out] is each
/// row times the transposed weight [out, in] of its group (the experts of a layer). x is not kept
/// where it comes with a recipe.
///
/// Numerical contract: grouped_matmul.h; gradients of weights are added as linear.h
/// adds them. A group without rows adds nothing to its gradient. Of factors of 8 bits
/// (Parameter::fp8) each group is a product of its own (fp8_products.h), its rows a tensor.
Var grouped_linear(Context& context, const Recomputable& x, std::span<Parameter* const> weights,
                   const std::vector<Index>& counts);

}  // namespace mpitron::ops
