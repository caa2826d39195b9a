#pragma once
#include "utils/library_version.h"

namespace mpitron::io {

LibraryVersion hdf5_version();

}  // namespace mpitron::io
