#include "io/hdf5/hdf5_version.h"

#include <fmt/format.h>
#include <hdf5.h>

namespace mpitron::io {

LibraryVersion hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return {"HDF5", fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
          fmt::format("{}.{}.{}", major, minor, release)};
}

void require_hdf5(const std::string& /*what*/) {}

}  // namespace mpitron::io
