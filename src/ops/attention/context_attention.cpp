// Attention of sequences that context parallel ranks share. The way of exchange (p2p, all_gather,
// a2a, a2a+p2p) is chosen here, and its op put together from the files beside this one.
#include "ops/attention/context_attention.h"

#include "ops/parallel/sequence_exchange.h"
#include "utils/error.h"

namespace mpitron::ops {
namespace {

using comm::GroupHandle;

/// Returns the settings with dropout told which of the sequence's positions this member of `group`
/// has.
AttentionSettings placed(AttentionSettings settings, Index s_local, const comm::Group& group) {
  settings.dropout.index.sequence =
      zigzag_slice(s_local * group.size(), group.size(), group.rank()).map;
  return settings;
}

/// sequence_to_heads, made again by the same exchange where qkv is made again.
Recomputable heads_of_sequence(Context& context, const Recomputable& qkv,
                               const GroupHandle& heads) {
  Var mine = sequence_to_heads(context, qkv.var, heads);
  if (qkv.recipe == nullptr) {
    return mine;
  }
  return {std::move(mine), [kept = autograd::SavedValue(qkv), heads](Context& again) {
            return sequence_to_heads(again, autograd::constant(kept(again)), heads).value;
          }};
}

/// Heads of this member of `heads`, the sequence as a whole or (`ring`) as its slice.
Var head_attention(Context& context, const Recomputable& qkv, AttentionSettings settings,
                   const GroupHandle& heads, const GroupHandle& ring) {
  const Recomputable mine = heads_of_sequence(context, qkv, heads);
  settings.layout.heads /= heads->size();
  settings.layout.query_groups /= heads->size();
  settings.dropout.index.sequence = {};
  settings.dropout.index.column_offset += heads->rank() * settings.layout.heads;
  settings.sink_head += heads->rank() * settings.layout.heads;
  const Var attended =
      ring == nullptr
          ? attention(context, mine, settings)
          : ring_attention(context, mine, placed(settings, mine.var.shape()[0], *ring), ring);
  return heads_to_sequence(context, attended, heads);
}

}  // namespace

void check_context_exchange(ContextExchange exchange, const ContextGroups& groups,
                            const QkvLayout& layout) {
  const bool alone = groups.all == nullptr || groups.all->size() == 1;
  if (alone || exchange == ContextExchange::ring || exchange == ContextExchange::all_gather) {
    return;
  }
  const bool mixed = exchange == ContextExchange::heads_in_ring;
  const char* const word = mixed ? "a2a+p2p" : "a2a";
  if (mixed && groups.levels.size() != 2) {
    throw_usage(
        "--cp-comm-type a2a+p2p needs --hierarchical-context-parallel-sizes INNER OUTER: the "
        "ranks that share heads, and the rings over them");
  }
  const Index ranks = (mixed ? groups.levels[0] : groups.all)->size();
  if (layout.heads % ranks != 0 || layout.query_groups % ranks != 0) {
    throw_usage(
        "--cp-comm-type {}: {} heads and {} query groups of a tensor-parallel rank cannot be "
        "shared out to {} context-parallel ranks; use p2p or all_gather, or fewer ranks with "
        "--context-parallel-size or --hierarchical-context-parallel-sizes",
        word, layout.heads, layout.query_groups, ranks);
  }
}

Var context_attention(Context& context, const Recomputable& qkv, const AttentionSettings& settings,
                      ContextExchange exchange, const ContextGroups& groups) {
  const GroupHandle& all = groups.all;
  if (all == nullptr || all->size() == 1) {
    return attention(context, qkv, settings);
  }
  const Index s_local = qkv.var.shape()[0];
  if (exchange == ContextExchange::ring) {
    return ring_attention(context, qkv, placed(settings, s_local, *all), all);
  }
  if (exchange == ContextExchange::all_gather) {
    return gathered_attention(context, qkv, placed(settings, s_local, *all), all);
  }
  if (settings.mask) {
    throw_usage(
        "--cp-comm-type a2a and a2a+p2p: attention masks (--reset-attention-mask) are known by "
        "rows of this rank only; use p2p or all_gather");
  }
  return exchange == ContextExchange::heads
             ? head_attention(context, qkv, settings, all, nullptr)
             : head_attention(context, qkv, settings, groups.levels[0], groups.levels[1]);
}

}  // namespace mpitron::ops
