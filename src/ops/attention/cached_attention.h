#pragma once
#include "autograd/cached_pass.h"
#include "ops/attention/attention.h"

namespace mpitron::ops {

/// Attention of the rows of the context's cached pass, whose keys and values are added to the cache
/// of layer `number` (from 1): [t, 1, n dv] of a fused qkv [t, 1, ..]. Not recorded.
///
/// Numerical contract: kernels/attention/cached_attention.h.
Var cached_attention(Context& context, const Var& qkv, const AttentionSettings& settings,
                     Index number);

}  // namespace mpitron::ops
