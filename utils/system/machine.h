#pragma once
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron {

/// Bytes of memory that this machine has.
Index machine_memory();
/// Bytes that programs could still take.
Index free_memory();

/// Of this machine; empty where the system does not tell.
std::string host_name();

}  // namespace mpitron
