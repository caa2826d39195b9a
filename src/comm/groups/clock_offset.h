#pragma once
#include <cstdint>
#include <vector>

#include "comm/groups/world.h"

namespace mpitron::comm {

/// How a rank's monotonic clock relates to that of rank 0, in nanoseconds.
struct ClockOffset {
  std::int64_t offset = 0;       // to add to the own clock
  std::int64_t uncertainty = 0;  // at most so much is wrong: half the shortest way there and back
  std::int64_t origin = 0;       // rank 0's clock when it began to measure: a zero for all ranks
};

/// Each of `ranks` asks rank 0 for the time, several times, and believes the fastest answer (as
/// NTP does). Called by all ranks of the world with the same list; others return at once.
ClockOffset measure_clock(World& world, const std::vector<Index>& ranks);

}  // namespace mpitron::comm
