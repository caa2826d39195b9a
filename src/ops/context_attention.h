#pragma once
#include "comm/parallel_groups.h"
#include "ops/attention.h"

namespace mpitron::ops {

/// How attention reaches the keys of a sequence that the members of a group share (--cp-comm-type).
enum class ContextExchange {
  ring,          // p2p: keys and values travel around the group
  all_gather,    // all_gather: keys and values of all are gathered
  heads,         // a2a: the sequence is exchanged for heads
  heads_in_ring  // a2a+p2p: heads inside the inner groups, a ring over the outer ones
};

/// The words of --cp-comm-type; anything else is Error(usage).
ContextExchange context_exchange_of(const std::string& word);

/// The groups of context parallelism; `inner` and `outer` only for heads_in_ring.
struct ContextGroups {
  comm::GroupHandle all, inner, outer;
};

/// The sizes that an exchange wants of a model: Error(usage) that names option and fix where heads
/// cannot be shared out.
void check_context_exchange(ContextExchange exchange, const ContextGroups& groups,
                            const QkvLayout& layout);

/// Attention over a sequence of which this rank holds zigzag slice `all->rank()`; dropout's
/// positions are set here. With a group of one, `attention`. A mask is [b or 1, s_local, s];
/// Error(usage) where the exchange hands out heads.
Var context_attention(Context& context, const Var& qkv, const AttentionSettings& settings,
                      ContextExchange exchange, const ContextGroups& groups);

}  // namespace mpitron::ops
