#pragma once
#include "plan/machine/machine.h"

namespace mpitron::plan {

/// Ranks that communicate: every `stride`-th rank, `size` of them.
struct RankGroup {
  double size = 1;
  double stride = 1;

  /// Members of the group that share a node.
  double members_on_a_node(const Machine& machine) const;
  double nodes(const Machine& machine) const { return size / members_on_a_node(machine); }
};

/// Returns the seconds of a ring over `bytes` (of the whole tensor): (k-1)/k of them pass each
/// rank. Where the group spans nodes, the network bandwidths of its members on a node add up, and
/// no rate is above that of a link.
double gather_time(const Machine& machine, const RankGroup& group, double bytes);
/// Returns the seconds of a reduce-scatter and an all-gather.
double all_reduce_time(const Machine& machine, const RankGroup& group, double bytes);
/// Returns the seconds from one rank to the next of a group.
double send_time(const Machine& machine, const RankGroup& group, double bytes);

/// Tokens that go to experts, or back.
struct Exchange {
  double tokens = 0;  // of a rank
  double choices = 0;
  double bytes = 0;  // of a token
  // A token's experts lie in at most `most_parts` of `parts` parts of all experts; 0: anywhere.
  double most_parts = 0;
  double parts = 0;
};
/// Returns the seconds: each choice over a link, and each token once per node it goes to over the
/// network.
double exchange_time(const Machine& machine, const RankGroup& group, const Exchange& exchange);

}  // namespace mpitron::plan
