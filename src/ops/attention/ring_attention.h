#pragma once
#include "comm/groups/parallel_groups.h"
#include "ops/attention/attention.h"

namespace mpitron::ops {

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
