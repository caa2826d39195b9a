// Does the arithmetic of shards: which ranges of a dimension a rank has, and how the ranges lie in
// memory.
#include "tensor/shard.h"

#include <cstring>

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

void take_shard(const ConstTensorView& global, const Shard& shard, const TensorView& local) {
  MPITRON_CHECK(shard.local(global.shape) == local.shape && global.dtype == local.dtype,
                to_string(local.shape));
  for_each_range(shard, global, local, [&](const ConstTensorView& from, const TensorView& to) {
    // Everything behind the cut dimension lies together.
    Index rows = 1;
    for (int dim = 0; dim < shard.dim; ++dim) {
      rows *= from.size(dim);
    }
    const auto element = static_cast<Index>(size_of(from.dtype));
    const Index row = rows > 0 ? from.numel() / rows * element : 0;
    if (row == 0) {
      return;  // an empty view may have no memory
    }
    const Index step = shard.dim > 0 ? from.stride(shard.dim - 1) * element : row;
    const Index local_step = shard.dim > 0 ? to.stride(shard.dim - 1) * element : row;
    for (Index i = 0; i < rows; ++i) {
      std::memcpy(static_cast<std::byte*>(to.data) + i * local_step,
                  static_cast<const std::byte*>(from.data) + i * step,
                  static_cast<std::size_t>(row));
    }
  });
}

}  // namespace mpitron::tensor
