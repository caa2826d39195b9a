#include "device/kokkos_version.h"

#include <gtest/gtest.h>

namespace mpitron::device {
namespace kokkos_version_test {

TEST(KokkosVersion, IsTheHeaders) {
  EXPECT_EQ(kokkos_version().name, "Kokkos");
  EXPECT_GE(std::stoi(kokkos_version().built), 3);
}

}  // namespace kokkos_version_test
}  // namespace mpitron::device
