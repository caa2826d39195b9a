#pragma once
#include "utils/numbers/shape.h"

namespace mpitron::comm {

/// memcpy past the caches, for what is larger than they are: `to` is not read first, which saves a
/// third of the memory traffic (memcpy does so only for single calls of many MiB).
void stream_copy(void* to, const void* from, Index bytes);

/// Copies some bytes of a copy of `whole` bytes in all, past the caches if those would be filled.
void copy_part(void* to, const void* from, Index bytes, Index whole);

/// memcpy, of nothing too; `to` and `from` are the same or do not overlap.
void copy_bytes(void* to, const void* from, Index bytes);

}  // namespace mpitron::comm
