#include <gtest/gtest.h>

#include "device/device.h"

namespace mpitron::device {
namespace host_runtime_test {

TEST(KokkosVersion, IsTheHeaders) {
  EXPECT_EQ(kokkos_version().name, "Kokkos");
  EXPECT_GE(std::stoi(kokkos_version().built), 3);
}

}  // namespace host_runtime_test
}  // namespace mpitron::device
