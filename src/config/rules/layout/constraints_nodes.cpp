#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules on machines, for runs that say how many ranks a machine has.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Returns 0 where the user did not tell it.
Index ranks_per_node(const Facts& f) {
  return f.values.maybe_integer("ranks_per_node").value_or(0);
}

Result whole_nodes(const Facts& f) {
  const Index ranks = ranks_per_node(f);
  if (f.values.given("ranks_per_node") && ranks < 1) {
    return Violation{fmt::format("{} ranks per node", ranks), "--ranks-per-node 8"};
  }
  const Index world = f.run.parallel.world_size;
  if (ranks < 1 || world < ranks) {
    return {};
  }
  return divides(world, ranks, nearest_multiples("world-size", world, ranks));
}

Result tensor_within_node(const Facts& f) {
  const Index ranks = ranks_per_node(f);
  const Index tensor = f.run.parallel.tensor_model_parallel_size;
  if (ranks < 1 || f.run.parallel.world_size <= ranks) {
    return {};
  }
  return divides(ranks, tensor, nearest_divisors("tensor-model-parallel-size", ranks, tensor));
}

constexpr std::array kNodeRules = std::to_array<Constraint>({
    {"E190", "whole_nodes", "world_size % ranks_per_node == 0, or one node alone",
     "world-size ranks-per-node",
     "Nodes have as many ranks each, which computes as fast as the slowest of them.", whole_nodes},
    {"E191", "tensor_within_node", "ranks_per_node % tensor_model_parallel_size == 0",
     "ranks-per-node tensor-model-parallel-size",
     "Tensor ranks exchange every layer's activations: they belong on one node.",
     tensor_within_node},
});

}  // namespace

std::span<const Constraint> node_constraints() {
  return kNodeRules;
}

}  // namespace mpitron::config
