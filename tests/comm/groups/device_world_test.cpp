#include "comm/groups/device_world.h"

#include <gtest/gtest.h>

namespace mpitron::comm {
namespace device_world_test {

TEST(DeviceWorld, WhereTensorsAreHostMemoryTheWorldIsItself) {
  const std::shared_ptr<World> ranks = make_single_world();
  for (const char* name : {"host", "reference"}) {
    const auto device = device::make_device(name);
    EXPECT_EQ(world_for_device(ranks, *device), ranks);
  }
}

}  // namespace device_world_test
}  // namespace mpitron::comm
