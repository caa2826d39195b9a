#pragma once
#include "autograd/context.h"
#include "comm/groups/group.h"

namespace mpitron::ops {

/// Shifts a sequence by one position: x, [s_local, b] of any type, is the zigzag slice of this
/// member of `group`; where the sequence ends come zeros. Nothing is recorded.
tensor::Tensor shift_sequence(autograd::Context& context, const tensor::Tensor& x,
                              comm::Group& group);

}  // namespace mpitron::ops
