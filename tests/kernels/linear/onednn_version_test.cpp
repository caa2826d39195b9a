#include "kernels/host/linear/onednn_version.h"

#include <gtest/gtest.h>

namespace mpitron::kernels::host {
namespace {

TEST(OnednnVersion, RunsWhatItWasBuiltWith) {
  const LibraryVersion version = onednn_version();
  EXPECT_EQ(version.name, "oneDNN");
  EXPECT_EQ(version.built, version.running);
}

}  // namespace
}  // namespace mpitron::kernels::host
