#pragma once
#include "autograd/cached_pass.h"
#include "comm/groups/group.h"
#include "ops/attention/attention.h"

namespace mpitron::ops {

// Ranks that share sequences have even pieces of the rows of a pass, filled up at the end, and each
// has some of the blocks: all rows meet every rank's keys where these lie.

/// Attention of the rows of the context's cached pass, whose keys and values are added to the cache
/// of layer `number` (from 1): [t, 1, n dv] of a fused qkv [t, 1, ..], this rank's piece of both.
/// Not recorded.
///
/// Numerical contract: kernels/attention/cached_attention.h; with several ranks their parts are
/// fp32 and merged in rank order (kernels/attention/attention_merge.h).
Var cached_attention(Context& context, const Var& qkv, const AttentionSettings& settings,
                     Index number, comm::Group& ranks);

/// What a kernel with queries of all rows and this rank's caches gives, together with those of the
/// other ranks: this rank's piece of the rows, [t, n, dv] of `type`.
tensor::Tensor attend_cached(Context& context, kernels::CachedAttention kernel, DType type,
                             comm::Group& ranks);

/// Adds keys and values of an encoder's output, [s, 1, g 2 d], to the cache of layer `number`, on
/// the blocks of the context's pass.
void append_encoded(Context& context, const Var& keys_values, const AttentionSettings& settings,
                    Index number);

/// Attention of queries [t, 1, n d], the rows of the context's pass, to what an encoder has left in
/// the cache of layer `number`: [t, 1, n d]. Not recorded.
Var cached_cross_attention(Context& context, const Var& queries, const AttentionSettings& settings,
                           Index number);

/// The kernel of these settings, without its rows and caches.
kernels::CachedAttention cached_attention_of(const AttentionSettings& settings,
                                             std::span<const kernels::CachedPiece> pieces);

}  // namespace mpitron::ops
