#pragma once
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron {

/// Bytes of memory that this machine has.
Index machine_memory();

/// Of this machine; empty where the system does not tell.
std::string host_name();

}  // namespace mpitron
