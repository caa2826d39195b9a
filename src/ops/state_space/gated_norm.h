#pragma once
#include "ops/state_space/recurrence.h"

namespace mpitron::ops {

struct GatedNormSettings {
  Parameter* weight = nullptr;  // [f]
  Index groups = 1;             // of a row, each normed by itself
  float eps = 1e-5f;
  bool gate_first = true;  // x silu(z) is normed; else silu(z) weighs what was normed
};

/// The RMS norm of x [s, b, n f], n rows of f elements at each position, gated by z of the same
/// shape.
struct GatedNorm {
  tensor::Tensor y, rstd;
};

// Numerical contract: kernels/state_space/gated_norm.h.

GatedNorm gated_norm(Context& context, const GatedNormSettings& settings, const tensor::Tensor& x,
                     const tensor::Tensor& z);
/// Tensors that a backward pass reads, and writes: dx may be dy.
struct GatedNormPass {
  tensor::Tensor x, z, rstd, dy, dx, dz;
};
void gated_norm_backward(Context& context, const GatedNormSettings& settings,
                         const GatedNormPass& pass);

}  // namespace mpitron::ops
