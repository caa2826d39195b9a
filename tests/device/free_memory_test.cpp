#include "device/free_memory.h"

#include <gtest/gtest.h>

#include "utils/system/machine.h"

namespace mpitron::device {
namespace free_memory_test {

TEST(FreeMemory, OfTheHostIsAPartOfTheMachines) {
  const auto device = make_device("host");
  const Index bytes = free_memory(*device);
  EXPECT_GT(bytes, 0);
  EXPECT_LE(bytes, machine_memory());
}

}  // namespace free_memory_test
}  // namespace mpitron::device
