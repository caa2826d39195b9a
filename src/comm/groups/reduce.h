#pragma once
#include <span>

#include "comm/groups/request.h"

namespace mpitron::comm {

/// For elements [begin, end): the reduction of all inputs, stored to all outputs. An output may be
/// an input.
///
/// Numerical contract: inputs are added in their order, in fp32 for half types (rounded once at the
/// end), in the type itself otherwise.
void reduce_elements(std::span<const void* const> inputs, std::span<void* const> outputs,
                     Index begin, Index end, DType dtype, Reduction reduction);

}  // namespace mpitron::comm
