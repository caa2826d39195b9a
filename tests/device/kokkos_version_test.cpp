#include "device/kokkos_version.h"

#include <gtest/gtest.h>

namespace mpitron::device {
namespace {

TEST(KokkosVersion, IsTheHeaders) {
  EXPECT_EQ(kokkos_version().name, "Kokkos");
  EXPECT_GE(std::stoi(kokkos_version().built), 3);
}

}  // namespace
}  // namespace mpitron::device
