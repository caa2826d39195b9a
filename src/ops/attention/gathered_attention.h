#pragma once
#include "comm/groups/parallel_groups.h"
#include "ops/attention/attention.h"

namespace mpitron::ops {

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

}  // namespace mpitron::ops
