#pragma once
#include <span>

#include "comm/groups/group.h"
#include "parallel/flat_memory.h"

namespace mpitron::parallel {

/// Each tensor = its sum over the group's members, all in one operation. Every member gives
/// tensors of the same sizes in the same order, all of one type.
///
/// Numerical contract: that of Group; lying together changes no bit.
void sum_together(device::Device& device, comm::Group& group, std::span<const Tensor> tensors);

}  // namespace mpitron::parallel
