#pragma once
#include "autograd/cached_pass.h"
#include "autograd/parameter.h"
#include "comm/groups/group.h"
#include "ops/attention/attention.h"
#include "ops/attention/latent_qkv.h"

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

/// Attends with queries of all rows to this rank's caches, by the kernel's pieces and table, and
/// joins the other ranks' parts: the result is this rank's piece of the rows, [t, n, dv] of `type`.
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

/// Tensors that latent attention reads of the rows of a cached pass.
struct CachedLatents {
  Var q;                                             // [t, 1, n (dq + dr)]
  Var kv;                                            // [t, 1, r], normed
  Var k_rope;                                        // [t, 1, dr]
  const autograd::Parameter* up = {};                // of keys and values, [n (dq + dv), r]
  comm::Group* ranks = {};                           // that share the sequences
  std::vector<autograd::AdaptedLayer> updates = {};  // low-rank, of the up projection
};

/// Latent attention of the rows of the context's cached pass: [t, 1, n dv], this rank's piece of
/// the rows (cached_attention.h). What layer `number`
/// (from 1) keeps of a position is its latent and the rotated part of its key, r + dr numbers for
/// all heads (DeepSeek-V2, Liu et al. 2024). The up projection is absorbed: with its rows U of a
/// head for keys and W for values, the head's query is q U beside its rotated part, and its output
/// is what the scores make of the latents, times W^T. Updates B A of the up projection (Hu et al.
/// 2021) are absorbed in the same way. Overwrites q and k_rope; not recorded.
///
/// Numerical contract: kernels/linear/packed_matmul.h and kernels/attention/cached_attention.h; the
/// absorbed query and the weighted latents are rounded to the activations' type; so are both
/// products of an update, and the sum with it. In a cache of 8 bits a position's latent and rotated
/// key have one scale together.
Var cached_latent_attention(Context& context, const CachedLatents& x, const LatentHeads& heads,
                            const AttentionSettings& settings,
                            const std::optional<RotaryTables>& tables, Index number);

}  // namespace mpitron::ops
