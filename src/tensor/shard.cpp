#include "tensor/shard.h"

namespace mpitron::tensor {

Shape Shard::local(const Shape& global) const {
  Shape shape = global;
  if (!whole()) {
    shape[dim] = 0;
    for (const Range& range : ranges) {
      MPITRON_CHECK(0 <= range.begin && range.begin <= range.end && range.end <= global[dim],
                    range.begin, range.end, to_string(global));
      shape[dim] += range.size();
    }
  }
  return shape;
}

Index Shard::global(Index at) const {
  for (const Range& range : ranges) {
    if (at < range.size()) {
      return range.begin + at;
    }
    at -= range.size();
  }
  MPITRON_CHECK(whole(), at);
  return at;
}

Shard even_shard(int dim, Index extent, const Pieces& pieces, Index blocks) {
  Shard shard{.dim = dim};
  if (pieces.size == 1) {
    return shard;
  }
  MPITRON_CHECK(extent % (blocks * pieces.size) == 0, extent, blocks, pieces.size);
  const Index block = extent / blocks, piece = block / pieces.size;
  for (Index i = 0; i < blocks; ++i) {
    const Index begin = i * block + pieces.rank * piece;
    shard.ranges.push_back({begin, begin + piece});
  }
  return shard;
}

}  // namespace mpitron::tensor
