#pragma once
#include "utils/dtype.h"
#include "utils/shape.h"

namespace mpitron::checkpoint {

/// Whether a load turns one type into the other: equal types, and fp32, bf16 and fp16 into each
/// other.
bool convertible(DType from, DType to);

/// Elements of one type as another; to half types rounded to nearest, ties to even. `from` may have
/// any alignment.
void convert_elements(const void* from, DType from_type, void* to, DType to_type, Index count);

}  // namespace mpitron::checkpoint
