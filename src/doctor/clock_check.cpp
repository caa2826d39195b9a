#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "checkpoint/plan/agreement.h"
#include "comm/groups/world.h"
#include "doctor/node_speed_check.h"
#include "launch/rank_place.h"
#include "utils/trace.h"

// Checks that the clocks of all nodes agree.

namespace mpitron::doctor {
namespace {

constexpr double kNoticed = 0.1;  // seconds: lines of two logs get out of order
constexpr double kRefused = 60;   // munge takes credentials for five minutes; some of it is used up

/// Returns the wall clock minus the one that measures durations, in nanoseconds.
std::int64_t wall_minus_steady() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count() - Trace::now();
}

}  // namespace

/// Asks all ranks at once where their clock stands, by way of the steady clocks, whose offset
/// messages measure well.
std::vector<ClockReading> read_clocks(comm::World& world) {
  std::vector<Index> ranks(static_cast<std::size_t>(world.size()));
  std::iota(ranks.begin(), ranks.end(), Index{0});
  // Rank 0's wall clock minus this one's is the same of the steady clocks, and of how both differ.
  const std::int64_t offset = comm::measure_clock(world, ranks).offset;
  std::vector<ClockReading> readings;
  std::int64_t first = 0;
  const auto texts =
      checkpoint::collect_texts(*world.all(), std::to_string(wall_minus_steady() - offset));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const std::int64_t difference = std::stoll(texts[rank]);
    first = rank == 0 ? difference : first;
    readings.push_back(
        {world.host(static_cast<Index>(rank)), static_cast<double>(difference - first) * 1e-9});
  }
  return readings;
}

/// Judges the differences: logs and traces of several nodes are read together, and seconds apart
/// confuse their order.
CheckResult check_clocks(const std::vector<ClockReading>& readings) {
  double largest = 0;
  std::vector<std::string> off;
  for (const ClockReading& reading : readings) {
    largest = std::max(largest, std::abs(reading.seconds));
    if (std::abs(reading.seconds) > kNoticed && (off.empty() || off.back() != reading.node)) {
      off.push_back(reading.node);
    }
  }
  CheckResult result{"clocks", Verdict::ok,
                     fmt::format("at most {:.3f} s apart from rank 0's", largest), ""};
  if (readings.size() < 2) {
    return {result.name, Verdict::skipped, "one rank alone", ""};
  }
  if (!off.empty()) {
    result.verdict = largest > kRefused ? Verdict::fail : Verdict::warn;
    result.found += ": " + launch::name_ranges(off);
    result.advice = "on these nodes: systemctl restart chronyd && chronyc makestep";
  }
  return result;
}

}  // namespace mpitron::doctor
