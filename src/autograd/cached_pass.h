#pragma once
#include <vector>

#include "autograd/packed_weights.h"
#include "kernels/attention/cached_attention.h"

namespace mpitron::autograd {

/// Keys and values of sequences, layer by layer, in blocks of positions. Who uses which block is
/// the caller's.
class KeyValueCache {
 public:
  struct Layer {
    Tensor keys, values;  // [blocks, g, block_size, d or dv]
  };
  /// What a position holds of one layer.
  struct Width {
    Index groups = 1, key = 1, value = 1;
    DType dtype = DType::f32;
  };

  KeyValueCache(device::Device& device, Index blocks, Index block_size)
      : device_(device), blocks_(blocks), block_size_(block_size) {}

  /// The layer's memory, taken when it is first asked for. `number`: from 1.
  const Layer& layer(Index number, const Width& width);
  void copy_block(Index from, Index to);
  /// Of all layers so far.
  Index bytes() const;

 private:
  device::Device& device_;
  Index blocks_, block_size_;
  std::vector<Layer> layers_;
};

/// A pass over pieces of several sequences, one after the other as rows [t, 1]: attention sees what
/// the cache holds of each sequence and adds the rows to it.
struct CachedPass {
  KeyValueCache& cache;
  PackedWeights& weights;
  std::span<const kernels::CachedPiece> pieces;
  Tensor positions;    // [t], int64, of the rows in their sequences
  Tensor wanted_rows;  // [r], int64: whose logits are wanted
};

}  // namespace mpitron::autograd
