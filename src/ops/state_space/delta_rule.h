#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// What a layer's delta rule has beside its inputs; heads are those that are here.
struct DeltaRuleSettings {
  Parameter *a_log = nullptr, *dt_bias = nullptr;  // [value heads]
  Index key_heads = 1, key_dim = 128;
  Index chunk = 64;
};

/// The gated delta rule over qkv [s, b, 2 key heads k + value heads v], the columns of queries, of
/// keys and of values, with beta and alpha in the columns of steps [s, b, 2 value heads]:
/// [s, b, value heads v].
///
/// Numerical contract: kernels/state_space/delta_rule.h; of the forward pass the states before each
/// chunk are kept.
Var delta_rule(Context& context, const Var& qkv, const Var& steps,
               const DeltaRuleSettings& settings);

}  // namespace mpitron::ops
