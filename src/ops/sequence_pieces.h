#pragma once
#include "autograd/context.h"
#include "utils/sequence_map.h"

namespace mpitron::ops {

// The members of a context-parallel group hold zigzag slices of a sequence. A collective puts what
// they hold one after the other; kernels want the sequence in its order. Rows are the first
// dimension.

/// [ranks * s_local, ...] by member -> [s, ...] in order.
tensor::Tensor in_sequence_order(autograd::Context& context, const tensor::Tensor& by_member,
                                 Index ranks);
/// The inverse.
tensor::Tensor by_member(autograd::Context& context, const tensor::Tensor& in_order, Index ranks);

}  // namespace mpitron::ops
