#pragma once
#include "autograd/context.h"
#include "kernels/experts/router_noise.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;
using kernels::TokenNoise;
using tensor::Tensor;

/// Random numbers of a use (autograd::RngKey) for this rank's rows of [s_local, b].
TokenNoise token_noise(const Context& context, const TensorParallel& shared, Index s_local, Index b,
                       const autograd::RngKey& key);

// Numerical contract: kernels/experts/router_noise.h.

/// x [t, h] times numbers between 1 - eps and 1 + eps.
Var jitter(Context& context, const Var& x, double eps, const TokenNoise& noise);

/// Random numbers in the shape and type of `logits`.
Tensor random_logits(Context& context, const Tensor& logits, const TokenNoise& noise);

}  // namespace mpitron::ops
