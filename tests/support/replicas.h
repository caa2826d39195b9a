#pragma once

#include "comm/groups/world.h"
#include "parallel/data_parallel.h"

namespace mpitron::test {

/// All ranks are replicas: `shard_size` neighbours share pieces.
inline parallel::ReplicaGroups replica_groups(comm::World& world, Index shard_size) {
  const Index first = world.rank() / shard_size * shard_size;
  std::vector<Index> shard, replicas;
  for (Index rank = first; rank < first + shard_size; ++rank) {
    shard.push_back(rank);
  }
  for (Index rank = world.rank() % shard_size; rank < world.size(); rank += shard_size) {
    replicas.push_back(rank);
  }
  return {world.make_group("shard", shard), world.make_group("replicas", replicas)};
}

}  // namespace mpitron::test
