#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// What a norm is made of: LayerNorm has gamma and beta, RMSNorm gamma only, the plain L2 norm of
/// queries and keys neither.
struct NormParameters {
  Parameter* gamma = nullptr;
  Parameter* beta = nullptr;
  float eps = 1e-5f;
  float gamma_offset = 0;  // 1: gamma is stored as gamma - 1
  bool rms = false;
};

/// Normalises rows of x[..., h] over h; y has `output_dtype` (x may be a wider residual stream).
///
/// Numerical contract: statistics in fp32; backward adds to what x's gradient holds already in one
/// pass.
Var norm(Context& context, const Var& x, const NormParameters& parameters, DType output_dtype);

}  // namespace mpitron::ops
