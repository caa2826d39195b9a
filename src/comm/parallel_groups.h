#pragma once
#include <memory>

#include "comm/rank_grid.h"
#include "comm/world.h"

namespace mpitron::comm {

using GroupHandle = std::shared_ptr<Group>;

/// The groups that this rank is a member of, one for each way of sharing the work; a way that is
/// not used has a group of one, so nobody asks.
struct ParallelGroups {
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
  // The levels of `context` for a2a+p2p: neighbours first. Empty where it is not divided.
  std::vector<GroupHandle> context_levels;
  // The two levels of `data_context` with several instances of the distributed optimizer: who
  // shares one instance's state, and who holds the same shard in all instances.
  GroupHandle optimizer_instance;
  GroupHandle optimizer_replicas;
};

/// Groups of one: everything on this rank.
ParallelGroups groups_of_one(World& world);

/// What the grid does not say.
struct GroupOptions {
  // Stages that hold embeddings; empty: first and last, and the first.
  std::vector<Index> embedding_stages = {};
  std::vector<Index> position_embedding_stages = {};
  std::vector<Index> context_level_sizes = {};  // --hierarchical-context-parallel-sizes
  Index optimizer_instances = 1;                // --num-distributed-optimizer-instances
};

/// This rank's groups. No rank waits for another: making a group is arithmetic, on every transport.
ParallelGroups make_parallel_groups(World& world, const RankGrid& grid,
                                    const GroupOptions& options = {});

}  // namespace mpitron::comm
