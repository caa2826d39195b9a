#pragma once
#include "autograd/parameter.h"
#include "comm/groups/group.h"
#include "ops/attention/attention.h"
#include "ops/attention/latent_qkv.h"

namespace mpitron::ops {

/// What latent attention reads of the rows of a cached pass.
struct CachedLatents {
  Var q;                               // [t, 1, n (dq + dr)]
  Var kv;                              // [t, 1, r], normed
  Var k_rope;                          // [t, 1, dr]
  const autograd::Parameter* up = {};  // of keys and values, [n (dq + dv), r]
  comm::Group* ranks = {};             // that share the sequences
};

/// Latent attention of the rows of the context's cached pass: [t, 1, n dv], this rank's piece of
/// the rows (cached_attention.h). What layer `number`
/// (from 1) keeps of a position is its latent and the rotated part of its key, r + dr numbers for
/// all heads (DeepSeek-V2, Liu et al. 2024). The up projection is absorbed: with its rows U of a
/// head for keys and W for values, the head's query is q U beside its rotated part, and its output
/// is what the scores make of the latents, times W^T. Overwrites q and k_rope; not recorded.
///
/// Numerical contract: kernels/linear/packed_matmul.h and kernels/attention/cached_attention.h; the
/// absorbed query and the weighted latents are rounded to the activations' type.
Var cached_latent_attention(Context& context, const CachedLatents& x, const LatentHeads& heads,
                            const AttentionSettings& settings,
                            const std::optional<RotaryTables>& tables, Index number);

}  // namespace mpitron::ops
