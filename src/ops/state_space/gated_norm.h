#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

struct GatedNormSettings {
  Parameter* weight = nullptr;  // [f]
  Index groups = 1;             // of a row, each normed by itself
  float eps = 1e-5f;
  bool gate_first = true;  // x silu(z) is normed; else silu(z) weighs what was normed
};

/// The RMS norm of rows of f elements of x, gated by z of the same shape; rows may be parts of x's
/// last dimension.
///
/// Numerical contract: kernels/state_space/gated_norm.h.
Var gated_norm(Context& context, const Var& x, const Var& z, const GatedNormSettings& settings);

}  // namespace mpitron::ops
