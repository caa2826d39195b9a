#include "io/hdf5/hdf5_version.h"

#include "utils/error.h"

namespace mpitron::io {

LibraryVersion hdf5_version() {
  return {"HDF5", "left out", ""};
}

void require_hdf5(const std::string& what) {
  throw_environment(
      "{}: this program was built without HDF5: install it (Debian: libhdf5-openmpi-dev) and build "
      "again, or train without --save and --load",
      what);
}

}  // namespace mpitron::io
