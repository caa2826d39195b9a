#pragma once
#include "autograd/context.h"
#include "utils/sequence_map.h"

namespace mpitron::ops {

// The members of a context-parallel group hold zigzag slices of a sequence. A collective puts what
// they hold one after the other; kernels want the sequence in its order. Rows are the first
// dimension; a member may hold the same slice of several sequences ("parts": keys, then values).

/// [ranks * parts * s_local, ...] by member -> [parts * s, ...] in order.
tensor::Tensor in_sequence_order(autograd::Context& context, const tensor::Tensor& by_member,
                                 Index parts, Index ranks);
/// The inverse.
tensor::Tensor by_member(autograd::Context& context, const tensor::Tensor& in_order, Index parts,
                         Index ranks);

}  // namespace mpitron::ops
