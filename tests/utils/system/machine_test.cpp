#include "utils/system/machine.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace mpitron {
namespace machine_test {

TEST(HostName, IsTheKernels) {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/hostname"), name);
  EXPECT_EQ(host_name(), name);
}

TEST(MachineMemory, IsWhatTheSystemTells) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  Index kibibytes = 0;
  ASSERT_TRUE(file >> name >> kibibytes);
  ASSERT_EQ(name, "MemTotal:");
  EXPECT_EQ(machine_memory() >> 10, kibibytes);
}

TEST(Machine, SomeOfItsMemoryIsFree) {
  EXPECT_GT(free_memory(), 0);
  EXPECT_LT(free_memory(), machine_memory());
}

}  // namespace machine_test
}  // namespace mpitron
