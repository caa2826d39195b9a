#include "device/stream_clock.h"

#include <gtest/gtest.h>

#include "utils/trace.h"

namespace mpitron::device {
namespace {

TEST(StreamClock, TellsTheMomentsInOrderOnce) {
  for (const char* name : {"host", "reference"}) {
    const auto device = make_device(name);
    const auto clock = make_stream_clock(device->stream());
    const std::int64_t before = Trace::now();
    clock->mark();
    clock->mark();
    const std::vector<std::int64_t> moments = clock->take();
    ASSERT_EQ(moments.size(), 2u);
    EXPECT_LE(before, moments[0]);
    EXPECT_LE(moments[0], moments[1]);
    EXPECT_LE(moments[1], Trace::now());
    EXPECT_TRUE(clock->take().empty());
  }
}

}  // namespace
}  // namespace mpitron::device
