#pragma once
#include "ops/attention/attention.h"

namespace mpitron::ops {

/// Softmax attention of queries, [s, b, n d], on another sequence's fused keys and values,
/// [s_kv, b, g 2 d]: for each query group its key head, then its value head. The result is
/// [s, b, n d].
///
/// Numerical contract: kernels/attention/attention.h.
Var cross_attention(Context& context, const Var& queries, const Var& keys_values,
                    const AttentionSettings& settings);

}  // namespace mpitron::ops
