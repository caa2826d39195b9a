#include "kernels/host/linear/onednn_version.h"

#include <gtest/gtest.h>

namespace mpitron::kernels::host {
namespace onednn_version_test {

TEST(OnednnVersion, RunsWhatItWasBuiltWith) {
  const LibraryVersion version = onednn_version();
  EXPECT_EQ(version.name, "oneDNN");
  EXPECT_EQ(version.built, version.running);
}

}  // namespace onednn_version_test
}  // namespace mpitron::kernels::host
