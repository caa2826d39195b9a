#include "io/hdf5/hdf5_version.h"

#include <gtest/gtest.h>

namespace mpitron::io {
namespace hdf5_version_test {

TEST(Hdf5Version, RunsWhatItWasBuiltWith) {
  const LibraryVersion version = hdf5_version();
  EXPECT_EQ(version.name, "HDF5");
  EXPECT_EQ(version.built, version.running);
  EXPECT_NO_THROW(require_hdf5("--save"));  // a program without HDF5 has no tests
}

}  // namespace hdf5_version_test
}  // namespace mpitron::io
