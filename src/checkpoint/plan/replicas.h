#pragma once
#include <string>
#include <vector>

#include "checkpoint/plan/holdings.h"

namespace mpitron::checkpoint {

/// A rank's tensor that holds elements [begin, end) of a shard.
struct Holder {
  Index rank = 0;
  Index item = 0;
  Index begin = 0, end = 0;
};

/// A stretch [begin, end) of a shard and everyone who holds all of it, by rank.
struct Replicas {
  Index begin = 0, end = 0;
  std::vector<Holder> holders;
};

/// All ranks that hold some of one shard of a data set.
struct ShardHolders {
  Index map = 0;  // index into Holdings::maps
  std::vector<Holder> holders;
};

/// Returns for each data set its different shards in the order of their first columns. Error(data)
/// names a data set whose shards overlap, leave a hole, or are cut along different dimensions.
std::vector<std::vector<ShardHolders>> shards_by_data_set(const Holdings& holdings);

/// Returns the parts that result from all holders' ends, ascending, which cover the shard.
/// Error(data) names the data set where a part is held by nobody.
std::vector<Replicas> split_into_replicas(const std::string& name, Index numel,
                                          std::vector<Holder> holders);

/// A candidate's share of bytes.
struct Share {
  Index candidate = 0;
  Index bytes = 0;
};
/// Shares out `bytes` bytes: the least loaded get as much as makes their loads equal, nobody less
/// than `least`, one of them everything if it is less. Ascending by place among the candidates.
/// Loads are not changed.
std::vector<Share> even_shares(Index bytes, Index least, const std::vector<Index>& candidate_loads);

}  // namespace mpitron::checkpoint
