#include "device/copy.h"

#include <array>

#include <gtest/gtest.h>

namespace mpitron::device {
namespace copy_test {

TEST(CopyBytes, IsDoneOnTheHostWhenItReturns) {
  for (const char* name : {"host", "reference"}) {
    const auto device = make_device(name);
    const std::array<int, 3> from = {1, 2, 3};
    std::array<int, 3> to = {};
    copy_bytes(device->stream(), to.data(), from.data(), sizeof from);
    synchronize(device->stream());
    EXPECT_EQ(to, from);
    copy_bytes(device->stream(), nullptr, nullptr, 0);
  }
}

}  // namespace copy_test
}  // namespace mpitron::device
