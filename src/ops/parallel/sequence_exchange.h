#pragma once
#include "autograd/context.h"
#include "comm/groups/parallel_groups.h"
#include "utils/numbers/sequence_map.h"

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

// The same on plain tensors.
tensor::Tensor columns_to_heads(autograd::Context& context, const tensor::Tensor& x,
                                comm::Group& group);
tensor::Tensor columns_to_sequence(autograd::Context& context, const tensor::Tensor& x,
                                   comm::Group& group);

// The members of a context-parallel group hold zigzag slices of a sequence. A collective puts what
// they hold one after the other; kernels want the sequence in its order. Rows are the first
// dimension.

/// [ranks * s_local, ...] by member -> [s, ...] in order.
tensor::Tensor in_sequence_order(autograd::Context& context, const tensor::Tensor& by_member,
                                 Index ranks);
/// The inverse.
tensor::Tensor by_member(autograd::Context& context, const tensor::Tensor& in_order, Index ranks);

}  // namespace mpitron::ops
