#pragma once
#include "utils/shape.h"

namespace mpitron::comm {

/// memcpy past the caches, for what is larger than they are: `to` is not read first, which saves a
/// third of the memory traffic (memcpy does so only for single calls of many MiB).
void stream_copy(void* to, const void* from, Index bytes);

}  // namespace mpitron::comm
