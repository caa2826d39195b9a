#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"
#include "kernels/experts/router_noise.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;
using kernels::TokenNoise;
using tensor::Tensor;

/// x [t, h] times the transposed weight [E, h] plus the bias [E] (null: none), all converted to
/// `dtype` first: logits [t, E] in dtype (--moe-router-dtype). Gradients of weight and bias are
/// added from products in dtype.
///
/// Numerical contract: kernels/linear/matmul.h in dtype; conversions round once; linear.h where
/// dtype is x's.
Var router_logits(Context& context, const Var& x, Parameter& weight, Parameter* bias, DType dtype);

/// Random numbers of a use (autograd::RngKey) for this rank's rows of [s_local, b]: those that the
/// rows have in the whole sequence, so that they depend on no layout.
TokenNoise token_noise(const Context& context, const TensorParallel& shared, Index s_local, Index b,
                       const autograd::RngKey& key);

/// x [t, h] times numbers between 1 - eps and 1 + eps; gradients get the same numbers.
///
/// Numerical contract: kernels/experts/router_noise.h.
Var jitter(Context& context, const Var& x, double eps, const TokenNoise& noise);

/// Random numbers in the shape and type of `logits`, which take their place.
/// Contract: as above.
Tensor random_logits(Context& context, const Tensor& logits, const TokenNoise& noise);

}  // namespace mpitron::ops
