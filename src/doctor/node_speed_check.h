#pragma once
#include <string>
#include <vector>

#include "comm/world.h"
#include "doctor/check_result.h"
#include "doctor/speed_probe.h"

namespace mpitron::doctor {

/// What the ranks of a machine reach together.
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

/// Those whose product or memory reaches less than `threshold` of the median.
std::vector<SlowNode> slow_nodes(const std::vector<NodeSpeed>& nodes, double threshold);

CheckResult check_node_speeds(const std::vector<NodeSpeed>& nodes,
                              const std::vector<SlowNode>& slow);

}  // namespace mpitron::doctor
