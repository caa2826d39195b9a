#pragma once
#include <algorithm>

#include "checkpoint/plan/replicas.h"
#include "utils/error.h"

namespace mpitron::checkpoint {

// Whether the shards that ranks hold cover a data set, each element once.

inline const ShardMap& map_of(const Holdings& holdings, const ShardHolders& shard) {
  return holdings.maps[static_cast<std::size_t>(shard.map)];
}

/// Throws Error(data) with the two ranks whose columns overlap without being equal.
[[noreturn]] inline void report_overlap(const Holdings& holdings, const std::string& name,
                                        const ShardHolders& a, const ShardHolders& b) {
  const auto say = [&](const ShardHolders& shard) {
    const ShardMap& map = map_of(holdings, shard);
    return fmt::format("rank {} (columns from {} of {} rows of {})", shard.holders.front().rank,
                       map.columns.empty() ? 0 : map.columns.front().begin, map.rows,
                       map.row_width);
  };
  throw_data("checkpoint: the shards of tensor {} on {} and {} overlap without being equal", name,
             say(a), say(b));
}

/// Checks that all shards have the same rows, of which their columns are each exactly once.
inline void check_shards(const Holdings& holdings, const DataSet& data_set,
                         const std::vector<ShardHolders>& shards) {
  struct Part {
    ShardMap::Column column;
    const ShardHolders* shard;
  };
  std::vector<Part> parts;
  if (shards.empty()) {
    throw_data("checkpoint: no rank holds any element of tensor {}", data_set.name);
  }
  const ShardMap& first = map_of(holdings, shards.front());
  for (const ShardHolders& shard : shards) {
    const ShardMap& map = map_of(holdings, shard);
    if (map.rows != first.rows || map.row_width != first.row_width) {
      report_overlap(holdings, data_set.name, shards.front(), shard);
    }
    for (const ShardMap::Column& column : map.columns) {
      parts.push_back({column, &shard});
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.column < b.column; });
  Index covered = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].column.begin < covered) {
      report_overlap(holdings, data_set.name, *parts[i - 1].shard, *parts[i].shard);
    }
    if (parts[i].column.begin > covered) {
      break;
    }
    covered = parts[i].column.end;
  }
  if (covered != first.row_width) {
    throw_data("checkpoint: no rank holds column {} of the {} rows of {} elements of tensor {}",
               covered, first.rows, first.row_width, data_set.name);
  }
}

}  // namespace mpitron::checkpoint
