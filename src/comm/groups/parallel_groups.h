#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "comm/groups/rank_grid.h"
#include "comm/groups/world.h"

namespace mpitron::comm {

using GroupHandle = std::shared_ptr<Group>;

/// How attention reaches the keys of a sequence that the ranks of a group share (--cp-comm-type).
enum class ContextExchange {
  ring,          // p2p: keys and values travel around the group
  all_gather,    // all_gather: keys and values of all are gathered
  heads,         // a2a: the sequence is exchanged for heads
  heads_in_ring  // a2a+p2p: heads inside the inner groups, a ring over the outer ones
};

/// Parses a word of --cp-comm-type; Error(usage) for any other.
ContextExchange context_exchange_of(const std::string& word);

/// Groups of the same ranks as the experts see them (RankGrid::expert).
struct ExpertGroups {
  GroupHandle expert;         // the experts of a layer
  GroupHandle expert_tensor;  // the shards of each expert
  GroupHandle expert_layer;   // expert_tensor x expert: together the experts of a layer
  GroupHandle expert_data;    // all replicas of an expert's shard
  // The two levels of `expert_data` with several instances of the distributed optimizer.
  GroupHandle expert_optimizer_instance;
  GroupHandle expert_optimizer_replicas;
};

/// The groups that this rank is a member of, one for each way of sharing the work; a way that is
/// not used has a group of one, so nobody asks.
struct ParallelGroups : ExpertGroups {
  GroupHandle tensor;        // the shards of every layer
  GroupHandle context;       // the pieces of every sequence
  GroupHandle data;          // the shares of the batch
  GroupHandle data_context;  // data x context: all replicas of a parameter's shard
  GroupHandle pipeline;      // the stages, first to last
  GroupHandle model;         // tensor x pipeline: together one replica's parameters
  GroupHandle tensor_context;
  GroupHandle tensor_data;
  GroupHandle tensor_data_context;  // all ranks of a stage
  // First and last stage (and the others that hold word embeddings); null on other stages.
  GroupHandle embedding;
  // The stages that hold position embeddings; null on other stages.
  GroupHandle position_embedding;
  // Between attention and MLP, activations are cut along the sequence over the tensor group.
  bool sequence_parallel = false;
  // The levels of `context` for a2a+p2p: neighbours first. Empty where it is not divided.
  std::vector<GroupHandle> context_levels;
  // The two levels of `data_context` with several instances of the distributed optimizer: who
  // shares one instance's state, and who holds the same shard in all instances.
  GroupHandle optimizer_instance;
  GroupHandle optimizer_replicas;
  // Of each layer, or one of all; none: ring.
  std::vector<ContextExchange> context_exchange;

  /// `layer_number` is global and starts at 1; layers behind the last one named do as that one.
  ContextExchange exchange_of(Index layer_number) const {
    const auto layer = static_cast<std::size_t>(layer_number - 1);
    return context_exchange.empty()
               ? ContextExchange::ring
               : context_exchange[std::min(layer, context_exchange.size() - 1)];
  }
};

/// Groups of one: everything on this rank.
ParallelGroups groups_of_one(World& world);

/// Options that the grid does not have.
struct GroupOptions {
  // Stages that hold embeddings; empty: first and last, and the first.
  std::vector<Index> embedding_stages = {};
  std::vector<Index> position_embedding_stages = {};
  std::vector<Index> context_level_sizes = {};  // --hierarchical-context-parallel-sizes
  Index optimizer_instances = 1;                // --num-distributed-optimizer-instances
  bool sequence_parallel = false;
  std::vector<ContextExchange> context_exchange = {};  // --cp-comm-type
};

/// This rank's groups. No rank waits for another: making a group is arithmetic, on every transport.
ParallelGroups make_parallel_groups(World& world, const RankGrid& grid,
                                    const GroupOptions& options = {});

}  // namespace mpitron::comm
