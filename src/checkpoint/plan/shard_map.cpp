#include "checkpoint/plan/shard_map.h"

// A shard as columns of rows: dimensions before the sharded one become rows, those behind it part
// of a row's width.

namespace mpitron::checkpoint {

ShardMap::ShardMap(const Shape& global, const tensor::Shard& shard) {
  const Index numel = global.numel();
  if (shard.whole() || numel == 0) {
    row_width = numel;
    columns = {{0, numel}};
    return;
  }
  MPITRON_CHECK(0 <= shard.dim && shard.dim < global.rank(), shard.dim, to_string(global));
  Index inner = 1;
  for (int dim = shard.dim + 1; dim < global.rank(); ++dim) {
    inner *= global[dim];
  }
  row_width = global[shard.dim] * inner;
  rows = numel / row_width;
  for (const tensor::Shard::Range& range : shard.ranges) {
    MPITRON_CHECK(0 <= range.begin && range.begin <= range.end && range.end <= global[shard.dim],
                  range.begin, range.end, to_string(global));
    if (!columns.empty() && columns.back().end == range.begin * inner) {
      columns.back().end = range.end * inner;
    } else if (range.size() > 0) {
      columns.push_back({range.begin * inner, range.end * inner});
    }
  }
  if (width() == row_width && columns.size() == 1) {
    *this = ShardMap(global, {});
  }
}

Index ShardMap::width() const {
  Index sum = 0;
  for (const Column& column : columns) {
    sum += column.size();
  }
  return sum;
}

}  // namespace mpitron::checkpoint
