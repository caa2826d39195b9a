#pragma once
#include <string>

#include "utils/text/library_version.h"

namespace mpitron::io {

LibraryVersion hdf5_version();

/// Error(environment) that names `what` needs HDF5 where this program was built without it: asked
/// before the work whose result only an HDF5 file can hold.
void require_hdf5(const std::string& what);

}  // namespace mpitron::io
