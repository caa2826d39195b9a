#pragma once
#include "autograd/context.h"
#include "comm/parallel_groups.h"

namespace mpitron::ops {

// Ulysses (Jacobs et al. 2023): all-to-all between "a slice of the sequence, all heads" and "the
// whole sequence, a part of the heads". The slices are zigzag slices, the result is in the order of
// the sequence. Each op is the other one's gradient. Nothing is added, so nothing is rounded.

/// [s_local, b, w] -> [s, b, w / c]: of the group's c members, j gets columns [j, j + 1) w / c.
autograd::Var sequence_to_heads(autograd::Context& context, const autograd::Var& x,
                                const comm::GroupHandle& group);
/// [s, b, w / c] -> [s_local, b, w].
autograd::Var heads_to_sequence(autograd::Context& context, const autograd::Var& x,
                                const comm::GroupHandle& group);

}  // namespace mpitron::ops
