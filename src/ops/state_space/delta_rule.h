#pragma once
#include "ops/state_space/recurrence.h"

namespace mpitron::ops {

/// Parameters that a layer's delta rule has beside its inputs; heads are those of this tensor rank.
struct DeltaRuleSettings {
  Parameter *a_log = nullptr, *dt_bias = nullptr;  // [value heads]
  Index key_heads = 1, key_dim = 128;
  Index chunk = 64;

  std::array<Parameter*, 2> parameters() const { return {a_log, dt_bias}; }
};

// The gated delta rule: channels are the columns of queries, of keys and of values,
// [s, b, 2 key heads k + value heads v], steps are beta and alpha, [s, b, 2 value heads]; y is
// [s, b, value heads v].
//
// Numerical contract: kernels/state_space/delta_rule.h.

Recurred recur(Context& context, const DeltaRuleSettings& settings, const RecurrenceInputs& inputs);
/// y of the rows [t, 1, ...] of the context's cached pass, each piece going on from what layer
/// `number` (from 1) keeps of it (kernels/state_space/cached_recurrence.h).
void recur_cached(Context& context, const DeltaRuleSettings& settings,
                  const RecurrenceInputs& inputs, Index number, const tensor::Tensor& y);
void recur_backward(Context& context, const DeltaRuleSettings& settings,
                    const RecurrenceInputs& inputs, const RecurrenceGradients& gradients);

}  // namespace mpitron::ops
