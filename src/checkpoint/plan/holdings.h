#pragma once
#include <span>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"
#include "checkpoint/plan/shard_map.h"
#include "comm/groups/group.h"
#include "tensor/state.h"

namespace mpitron::checkpoint {

/// Parts of every data set that every rank holds. Ranks whose tensors differ only in the flat cuts
/// (a distributed optimizer) share one structure.
struct Holdings {
  struct Item {
    Index data_set = 0;  // index into data_sets
    Index map = 0;       // index into maps
    bool operator==(const Item&) const = default;
  };
  /// Elements [begin, end) of the shard.
  struct Cut {
    Index begin = 0, end = 0;
    bool operator==(const Cut&) const = default;
  };

  std::vector<DataSet> data_sets;             // by name; without offsets
  std::vector<ShardMap> maps;                 // all different
  std::vector<std::vector<Item>> structures;  // items in the order of the rank's tensors
  std::vector<Index> structure_of;            // of each rank
  std::vector<std::vector<Cut>> cuts;         // of each rank, for each item

  Index ranks() const { return static_cast<Index>(structure_of.size()); }
  const std::vector<Item>& items(Index rank) const {
    return structures[static_cast<std::size_t>(structure_of[static_cast<std::size_t>(rank)])];
  }
};

/// One rank's tensors without their values, as they travel.
struct Description {
  Description() = default;
  explicit Description(std::span<const tensor::ShardedTensor> tensors);

  std::string structure;  // names, shapes, types and shards
  std::vector<Holdings::Cut> cuts;
  bool operator==(const Description&) const = default;
};

/// Joins the descriptions of all ranks, in order. Error(data) names a tensor that has two shapes or
/// types.
Holdings make_holdings(std::span<const Description> ranks);

/// Gathers every member's description; all members get the same holdings. Each different structure
/// travels once.
Holdings gather_holdings(comm::Group& group, const Description& own);

}  // namespace mpitron::checkpoint
