#include "comm/groups/device_world.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::comm {

namespace device_world_test {

TEST(DeviceWorld, WhereTensorsAreHostMemoryTheWorldIsItself) {
  const std::shared_ptr<World> ranks = make_single_world();
  for (const char* name : {"host", "reference"}) {
    const auto device = device::make_device(name);
    EXPECT_EQ(world_for_device(ranks, *device), ranks);
  }
}

/// Ranks of one host with these addresses.
void bind(const std::vector<std::string>& addresses, bool may_share) {
  run_thread_world(static_cast<Index>(addresses.size()), [&](World& world) {
    check_gpu_binding(world, addresses[static_cast<std::size_t>(world.rank())], may_share);
  });
}

TEST(GpuBinding, TwoRanksOfOneGpuAreNamedWithTheWaysOut) {
  try {
    bind({"0000:3b:00.0", "0000:5e:00.0", "0000:3b:00.0"}, false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    const std::string text = error.what();
    EXPECT_NE(text.find("ranks 0 and 2 both take the GPU 0000:3b:00.0 of host"), std::string::npos)
        << text;
    EXPECT_NE(text.find("--distributed-backend mpi"), std::string::npos) << text;
  }
}

TEST(GpuBinding, SharingMayBeAskedFor) {
  EXPECT_NO_THROW(bind({"0000:3b:00.0", "0000:3b:00.0"}, true));
}

TEST(GpuBinding, OneForEachOrNoneIsRight) {
  EXPECT_NO_THROW(bind({"0000:3b:00.0", "0000:5e:00.0"}, false));
  EXPECT_NO_THROW(bind({"", "", ""}, false));
}

}  // namespace device_world_test

}  // namespace mpitron::comm
