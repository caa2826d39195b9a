#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/groups/world.h"
#include "device/device.h"
#include "doctor/check_result.h"

namespace mpitron::doctor {

/// The speed that a process gets from its machine.
struct Speed {
  double flops = 0;        // fp32 operations per second in a matrix product
  double bytes_per_s = 0;  // read and written while memory is scaled
};

struct SpeedProbe {
  Index side = 1024;               // of the matrices
  Index bytes = Index{256} << 20;  // of each array: far more than the caches hold
  Index repetitions = 5;           // of which the fastest counts
  std::function<void()> barrier;   // of all ranks, so that neighbours measure at the same time
};

/// Measures this rank; HostRuntime must live.
Speed measure_speed(device::Device& host, const SpeedProbe& probe);

/// The speed that the ranks of a machine reach together.
struct NodeSpeed {
  std::string node;
  Index ranks = 0;
  Speed speed;  // sums
};

/// Sums each machine's ranks; on rank 0, nothing elsewhere. Every rank calls it with its own speed.
std::vector<NodeSpeed> gather_speeds(comm::World& world, const Speed& own);

/// A machine that is slower than others of as many ranks.
struct SlowNode {
  std::string node;
  std::string reason;
};

/// Returns those whose product or memory reaches less than `threshold` of the median.
std::vector<SlowNode> slow_nodes(const std::vector<NodeSpeed>& nodes, double threshold);

CheckResult check_node_speeds(const std::vector<NodeSpeed>& nodes,
                              const std::vector<SlowNode>& slow);

/// A rank's machine, and how far its wall clock is ahead of rank 0's.
struct ClockReading {
  std::string node;
  double seconds = 0;
};

/// Reads the clocks of all ranks, on rank 0; nothing elsewhere. Every rank calls it.
std::vector<ClockReading> read_clocks(comm::World& world);

/// Judges the clocks: logs and time limits want clocks that agree; munge refuses what is minutes
/// old.
CheckResult check_clocks(const std::vector<ClockReading>& readings);

}  // namespace mpitron::doctor
