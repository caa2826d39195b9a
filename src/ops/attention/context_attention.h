#pragma once
#include "comm/groups/parallel_groups.h"
#include "ops/attention/attention.h"

namespace mpitron::ops {

using comm::ContextExchange;

/// The group that shares a sequence and, for heads_in_ring, its two levels: neighbours, which share
/// the heads, and one rank of each neighbourhood.
struct ContextGroups {
  comm::GroupHandle all;
  std::vector<comm::GroupHandle> levels = {};
};

/// The sizes that an exchange wants of a model: Error(usage) that names option and fix where heads
/// cannot be shared out.
void check_context_exchange(ContextExchange exchange, const ContextGroups& groups,
                            const QkvLayout& layout);

/// Attention over a sequence of which this rank holds zigzag slice `all->rank()`; dropout's
/// positions are set here. With a group of one, `attention`. A mask is [b or 1, s_local, s];
/// Error(usage) where the exchange hands out heads.
///
/// Numerical contract: that of the kind that runs: the ring, gathered keys, or attention.h.
Var context_attention(Context& context, const Recomputable& qkv, const AttentionSettings& settings,
                      ContextExchange exchange, const ContextGroups& groups);

/// Attention over a sequence whose zigzag slices the group's members hold: keys and values of all
/// are gathered, the queries stay. `qkv` has s_local rows, a mask is [b or 1, s_local, s].
///
/// Numerical contract: one kernel sees all keys, so the output has one rank's bits. Gradients of
/// keys and values are added in fp32 (fp64 for fp64) in the order of the members, and rounded once.
Var gathered_attention(Context& context, const Recomputable& qkv, const AttentionSettings& settings,
                       const comm::GroupHandle& group);

/// Keys and values of all members in the order of the sequence, [s, b, g, d + dv].
tensor::Tensor gathered_keys(Context& context, const tensor::Tensor& qkv, const QkvLayout& layout,
                             comm::Group& group);

/// Attention over a sequence whose zigzag slices the group's members hold: keys and values travel
/// around the group while each member attends to those that are there (ring attention, Liu et al.
/// 2023). `qkv` is [s_local, b, (n + 2g) d], a mask [b or 1, s_local, s].
///
/// Numerical contract: blocks are computed and merged in fp32 (fp64 for fp64), this rank's own keys
/// first, then those of the ranks before it, nearest first; the output is rounded once. Gradients
/// of queries are added in the same order, those of keys and values in the order of
/// ring_exchange.h, in fp32, and rounded once.
Var ring_attention(Context& context, const Recomputable& qkv, const AttentionSettings& settings,
                   const comm::GroupHandle& group);

}  // namespace mpitron::ops
