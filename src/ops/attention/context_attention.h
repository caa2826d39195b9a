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
/// Numerical contract: that of ring_attention.h, gathered_attention.h, or attention.h.
Var context_attention(Context& context, const Recomputable& qkv, const AttentionSettings& settings,
                      ContextExchange exchange, const ContextGroups& groups);

}  // namespace mpitron::ops
