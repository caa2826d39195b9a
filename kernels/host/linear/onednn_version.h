#pragma once
#include "utils/text/library_version.h"

namespace mpitron::kernels::host {

LibraryVersion onednn_version();

}  // namespace mpitron::kernels::host
