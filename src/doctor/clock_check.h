#pragma once
#include <string>
#include <vector>

#include "comm/groups/world.h"
#include "doctor/check_result.h"

namespace mpitron::doctor {

/// How far the wall clock of a rank's machine is ahead of rank 0's.
struct ClockReading {
  std::string node;
  double seconds = 0;
};

/// Of all ranks, on rank 0; nothing elsewhere. Every rank calls it.
std::vector<ClockReading> read_clocks(comm::World& world);

/// Logs and time limits want clocks that agree; munge refuses what is minutes old.
CheckResult check_clocks(const std::vector<ClockReading>& readings);

}  // namespace mpitron::doctor
