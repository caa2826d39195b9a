#pragma once
#include "kernels/attention/cached_attention.h"
#include "kernels/cuda/common/vector.cuh"

// Where rows of a step lie in the cache of keys and values, and how its numbers are read.

namespace mpitron::kernels::cuda {

/// Where the rows' positions lie.
struct PieceTable {
  const Index* words;
  Index block_size;

  static PieceTable of(const In& table, const In& cache) {
    MPITRON_CHECK(table && table.dtype == DType::i64, name_of(table.dtype));
    return {elements<Index>(table), cache.size(2)};
  }
  __device__ Index position(Index row) const { return words[2 * row]; }
  /// -1: not here.
  __device__ Index block(Index row, Index position) const {
    return words[words[2 * row + 1] + position / block_size];
  }
};

/// A cache [blocks, g, block_size, d], or its scales, where d is 1.
template <class T>
struct CacheView {
  T* data;
  Index block, group, row, d;

  template <class View>
  static CacheView of(const View& view) {
    return {static_cast<T*>(view.data), view.stride(0), view.stride(1), view.stride(2),
            view.shape.rank() == 4 ? view.size(3) : Index{1}};
  }
  __device__ Index offset(Index b, Index g, Index r) const {
    return b * block + g * group + r * row;
  }
};

}  // namespace mpitron::kernels::cuda
