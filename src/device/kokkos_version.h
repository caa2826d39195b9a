#pragma once
#include "utils/text/library_version.h"

namespace mpitron::device {

LibraryVersion kokkos_version();

}  // namespace mpitron::device
