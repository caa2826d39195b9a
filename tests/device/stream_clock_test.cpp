#include "device/stream_clock.h"

#include <gtest/gtest.h>

#include "utils/trace.h"

namespace mpitron::device {
namespace stream_clock_test {

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

TEST(StreamClock, TheShortestRowCounts) {
  struct Told : StreamClock {
    std::vector<std::int64_t> moments = {0,  9,  10, 14,
                                         20, 22, 30, 36};  // ns; the first row warms up
    std::size_t marked = 0, taken = 0;
    void mark() override { ++marked; }
    std::vector<std::int64_t> take() override {
      const std::vector<std::int64_t> row(moments.begin() + static_cast<std::ptrdiff_t>(taken),
                                          moments.begin() + static_cast<std::ptrdiff_t>(marked));
      taken = marked;
      return row;
    }
  } clock;
  int calls = 0;
  EXPECT_DOUBLE_EQ(shortest_seconds(clock, {.rounds = 3, .calls = 2}, [&] { ++calls; }), 1e-9);
  EXPECT_EQ(calls, 8);
}

}  // namespace stream_clock_test
}  // namespace mpitron::device
