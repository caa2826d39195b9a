#pragma once
#include "autograd/context.h"
#include "autograd/gradient.h"
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

/// The bias as an argument of a kernel, which takes an absent one.
device::ConstTensorView value_of(const autograd::Parameter* bias);

/// Adds the sum of dy[..., n] over its rows to the bias's gradient; nothing without a bias.
///
/// Numerical contract: sums in fp32 over fixed blocks of rows (matmul.h, BiasGradient).
void accumulate_bias(autograd::Context& context, autograd::Parameter* bias,
                     const tensor::Tensor& dy);

}  // namespace mpitron::ops
