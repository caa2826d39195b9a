#pragma once
#include "utils/shape.h"

namespace mpitron {

/// Bytes of memory that this machine has.
Index machine_memory();

}  // namespace mpitron
