#pragma once
#include <memory>

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
  // First and last stage (and the others that hold word embeddings); null on other stages.
  GroupHandle embedding;
  // The stages that hold position embeddings; null on other stages.
  GroupHandle position_embedding;
  /// Between attention and MLP, activations are cut along the sequence over the tensor group.
  bool sequence_parallel = false;
};

/// Groups of one: everything on this rank.
ParallelGroups groups_of_one(World& world);

}  // namespace mpitron::comm
