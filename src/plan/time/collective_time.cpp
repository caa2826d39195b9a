#include "plan/time/collective_time.h"

#include <algorithm>
#include <cmath>

// Times of communication by closed form, from bandwidths and latencies of links within a node and
// of the network between nodes.

namespace mpitron::plan {
namespace {

double link_rate(const Machine& machine) {
  return machine.link_bandwidth * machine.link_share;
}
double network_rate(const Machine& machine) {
  return machine.network_bandwidth * machine.network_share;
}

}  // namespace

double RankGroup::members_on_a_node(const Machine& machine) const {
  return std::clamp(std::floor(machine.node_gpus / stride), 1.0, std::max(1.0, size));
}

double gather_time(const Machine& machine, const RankGroup& group, double bytes) {
  if (group.size <= 1) {
    return 0;
  }
  const double members = group.members_on_a_node(machine);
  const double nodes = group.nodes(machine);
  // Between nodes, the members on a node use their networks side by side; within a node, each uses
  // its link: the slower of both counts. Latencies grow with the ring, up to a multiple of the
  // logarithm.
  const double rate = nodes > 1 ? std::min(members > 1 ? link_rate(machine) : network_rate(machine),
                                           members * network_rate(machine))
                                : link_rate(machine);
  return (group.size - 1) / group.size * bytes / rate +
         std::min(members - 1, 2 * std::log2(members)) * machine.link_latency +
         std::min(std::max(0.0, nodes - 1), 4 * std::log2(std::max(1.0, nodes))) *
             machine.network_latency;
}

double all_reduce_time(const Machine& machine, const RankGroup& group, double bytes) {
  return 2 * gather_time(machine, group, bytes);
}

double send_time(const Machine& machine, const RankGroup& group, double bytes) {
  if (group.size <= 1) {
    return 0;
  }
  return group.size * group.stride <= machine.node_gpus
             ? bytes / link_rate(machine) + machine.link_latency
             : bytes / network_rate(machine) + machine.network_latency;
}

double exchange_time(const Machine& machine, const RankGroup& group, const Exchange& exchange) {
  if (group.size <= 1) {
    return 0;
  }
  const double members = group.members_on_a_node(machine);
  const double nodes = group.nodes(machine);
  const double all = exchange.tokens * exchange.bytes;
  double seconds =
      machine.link_latency + all * exchange.choices * (members - 1) / members / link_rate(machine);
  if (nodes > 1) {
    // The expected number of nodes that a token's choices fall on, chosen evenly.
    double met = nodes * (1 - std::pow(1 - 1 / nodes, exchange.choices));
    if (exchange.parts > 0) {
      met = std::min(met,
                     std::max(1.0, exchange.most_parts * nodes / std::max(nodes, exchange.parts)));
    }
    seconds += machine.network_latency + all * met * (nodes - 1) / nodes / network_rate(machine);
  }
  return seconds;
}

}  // namespace mpitron::plan
