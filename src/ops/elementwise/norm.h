#pragma once
#include "autograd/context.h"
#include "autograd/gradient.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;
using device::ConstTensorView;
using device::TensorView;

/// Parameters of a norm: LayerNorm has gamma and beta, RMSNorm gamma only, the plain L2 norm of
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

// What the norm ops share: one launch for either kind of norm. Contract: norm.h.

/// Statistics of the rows, kept for backward; the mean only with LayerNorm.
struct NormStatistics {
  tensor::Tensor mean, rstd;  // [t], fp32
};

struct NormForwardViews {
  ConstTensorView x;
  TensorView y;
};
NormStatistics norm_forward(Context& context, const NormParameters& parameters,
                            const NormForwardViews& views);

struct NormBackwardViews {
  ConstTensorView x, dy, dx_add;
  TensorView dx;
};
/// Writes dx and adds the parameters' gradients to their sinks.
void norm_backward(Context& context, const NormParameters& parameters,
                   const NormStatistics& statistics, const NormBackwardViews& views);

}  // namespace mpitron::ops
