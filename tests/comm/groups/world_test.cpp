#include "comm/groups/world.h"

#include <gtest/gtest.h>

#include "utils/trace.h"

namespace mpitron::comm {
namespace world_test {

TEST(ClockOffset, OfOneRankIsZero) {
  const std::int64_t before = Trace::now();
  const ClockOffset clock = measure_clock(*make_single_world(), {0});
  EXPECT_EQ(clock.offset, 0);
  EXPECT_EQ(clock.uncertainty, 0);
  EXPECT_GE(clock.origin, before);
  EXPECT_LE(clock.origin, Trace::now());
}

/// Threads share a clock, so the offset must be within what the rank says it may be wrong by.
TEST(ClockOffset, IsWithinItsUncertainty) {
  std::array<ClockOffset, 4> clocks;
  run_thread_world(4, [&clocks](World& world) {
    clocks[static_cast<std::size_t>(world.rank())] = measure_clock(world, {3, 1, 3, 0});
  });
  for (const std::size_t rank : {1, 3}) {
    EXPECT_GT(clocks[rank].uncertainty, 0);
    EXPECT_LE(std::abs(clocks[rank].offset), clocks[rank].uncertainty);
    EXPECT_EQ(clocks[rank].origin, clocks[0].origin);
  }
  EXPECT_EQ(clocks[2].origin, 0) << "a rank that was not listed takes part";
}

}  // namespace world_test
}  // namespace mpitron::comm
