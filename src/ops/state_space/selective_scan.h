#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// What a layer's scan has beside its inputs; heads and groups are those that are here.
struct ScanSettings {
  Parameter *a_log = nullptr, *d = nullptr, *dt_bias = nullptr;  // [heads]
  Index groups = 1;
  Index state_dim = 128;
  Index chunk = 128;
};

/// The scan of Mamba-2 over xbc [s, b, heads p + 2 groups n], the columns of x, of B and of C, with
/// the steps dt [s, b, heads] before softplus: [s, b, heads p].
///
/// Numerical contract: kernels/state_space/selective_scan.h; of the forward pass the states before
/// each chunk are kept.
Var selective_scan(Context& context, const Var& xbc, const Var& dt, const ScanSettings& settings);

}  // namespace mpitron::ops
