#include "utils/host_name.h"

#include <fstream>

#include <gtest/gtest.h>

namespace mpitron {
namespace {

TEST(HostName, IsTheKernels) {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/hostname"), name);
  EXPECT_EQ(host_name(), name);
}

}  // namespace
}  // namespace mpitron
