#pragma once
#include <vector>

#include "tensor/tensor.h"

namespace mpitron::tensor {

/// Part of a global tensor that a rank holds: ranges of one dimension, one after the other in
/// memory (a gated layer holds a range of the gate and one of the other half). Without ranges, all
/// of it.
struct Shard {
  struct Range {
    Index begin = 0, end = 0;
    Index size() const { return end - begin; }
    bool operator==(const Range&) const = default;
  };
  int dim = 0;  // counted from the front
  std::vector<Range> ranges = {};

  bool whole() const { return ranges.empty(); }
  Shape local(const Shape& global) const;
  /// Returns the place of local index `at` of the cut dimension in the global tensor.
  Index global(Index at) const;
  bool operator==(const Shard&) const = default;
};

/// Piece `rank` of `size` equal pieces of every one of `blocks` equal blocks of dimension `dim`,
/// which has `extent` elements; all of it for a group of one.
struct Pieces {
  Index rank = 0, size = 1;
};
Shard even_shard(int dim, Index extent, const Pieces& pieces, Index blocks = 1);

/// Calls visit(part of the global view, part of the local view), of equal shapes, for every range.
template <class Global, class Local, class Visit>
void for_each_range(const Shard& shard, const Global& global, const Local& local, Visit&& visit) {
  if (shard.whole()) {
    visit(global, local);
    return;
  }
  Index at = 0;
  for (const Shard::Range& range : shard.ranges) {
    visit(device::slice(global, shard.dim, range.begin, range.end),
          device::slice(local, shard.dim, at, at + range.size()));
    at += range.size();
  }
}

/// Copies this shard of a global tensor, both in the host's memory and of one type; the global one
/// may lie at any address (a file).
void take_shard(const ConstTensorView& global, const Shard& shard, const TensorView& local);

}  // namespace mpitron::tensor
