#pragma once
#include <algorithm>
#include <vector>

#include "tensor/shard.h"

namespace mpitron::checkpoint {

/// A map of the elements of a shard to the global tensor, both flat: the global tensor is `rows`
/// rows of `row_width` elements, of which the shard has the same columns in every row. A tensor cut
/// along its first dimension is one row. Two shards hold the same elements iff their maps are
/// equal.
struct ShardMap {
  struct Column {
    Index begin = 0, end = 0;
    Index size() const { return end - begin; }
    auto operator<=>(const Column&) const = default;
  };
  Index rows = 1;
  Index row_width = 0;          // of the global tensor
  std::vector<Column> columns;  // in the shard's order, none touching the next

  ShardMap() = default;
  ShardMap(const Shape& global, const tensor::Shard& shard);
  auto operator<=>(const ShardMap&) const = default;

  /// Returns the elements of the shard in each row; numel() in all.
  Index width() const;
  Index numel() const { return rows * width(); }

  /// Calls visit(global, local, count) for elements [begin, end) of the shard, in pieces that are
  /// contiguous in both.
  template <class Visit>
  void for_each_run(Index begin, Index end, Visit&& visit) const;
};

template <class Visit>
void ShardMap::for_each_run(Index begin, Index end, Visit&& visit) const {
  const Index local_width = width();
  for (Index row = begin < end ? begin / local_width : rows; row < rows; ++row) {
    Index local = row * local_width;
    for (const Column& column : columns) {
      const Index from = std::max(begin, local);
      const Index to = std::min(end, local + column.size());
      if (from < to) {
        visit(row * row_width + column.begin + (from - local), from, to - from);
      }
      local += column.size();
    }
    if (local >= end) {
      return;
    }
  }
}

}  // namespace mpitron::checkpoint
