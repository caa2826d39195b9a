#include <gtest/gtest.h>

#include "doctor/network_check.h"

namespace mpitron::doctor {
namespace network_interfaces_test {

TEST(NetworkInterfaces, ReadsThisMachine) {
  const auto interfaces = read_interfaces();
  const auto loopback = std::find_if(interfaces.begin(), interfaces.end(),
                                     [](const Interface& one) { return one.loopback; });
  ASSERT_NE(loopback, interfaces.end());
  EXPECT_EQ(loopback->name, "lo");
}

}  // namespace network_interfaces_test

}  // namespace mpitron::doctor
