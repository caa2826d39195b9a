#pragma once
#include <utility>

#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

// A gate on what attention gives, from the projection that makes queries, keys and values (Qiu et
// al. 2025).
//
// Numerical contract: split_gate copies; output_gate: kernels/elementwise/sigmoid_gate.h.

/// Of x [s, b, groups * (2 queries + rest)], where each group has its queries, as many gates, and
/// the rest: the groups without gates, and the gates [s, b, groups * queries].
std::pair<Var, Var> split_gate(Context& context, const Var& x, Index groups, Index queries);

/// x sigmoid(gate), of one shape.
Var output_gate(Context& context, const Var& x, const Var& gate);

}  // namespace mpitron::ops
