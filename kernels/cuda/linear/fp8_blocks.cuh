#pragma once
#include "kernels/cuda/common/vector.cuh"
#include "kernels/linear/fp8_quantize.h"

namespace mpitron::kernels::cuda {

/// Scales of a matrix's blocks, made from their largest values.
struct BlockScales {
  const float* amax;
  Index row_stride, column_stride;
  Fp8Blocks blocks;
  Fp8Scaling scaling;

  BlockScales(const device::ConstTensorView& amax_, const Fp8Blocks& blocks_,
              const Fp8Scaling& scaling_)
      : amax(elements<float>(amax_)),
        row_stride(amax_.stride(0)),
        column_stride(amax_.stride(1)),
        blocks(blocks_),
        scaling(scaling_) {}

  /// Whether all elements of a pack share a scale.
  constexpr bool fit_packs() const { return blocks.columns % kPack == 0; }
  __device__ bool whole() const { return blocks.rows == 0 && blocks.columns == 0; }
  /// Returns the scale of an element.
  __device__ float operator()(Index row, Index column) const {
    const Index down = blocks.rows > 0 ? quotient(row, blocks.rows) : 0;
    const Index across = blocks.columns > 0 ? quotient(column, blocks.columns) : 0;
    return fp8_scale(amax[down * row_stride + across * column_stride], scaling);
  }
  /// Serves a thread that asks often: a scale that all elements share is found once.
  class Found {
   public:
    __device__ explicit Found(const BlockScales& scales)
        : scales_(scales), whole_(scales.whole()), first_(scales(0, 0)) {}
    __device__ float operator()(Index row, Index column) const {
      return whole_ ? first_ : scales_(row, column);
    }

   private:
    const BlockScales& scales_;
    bool whole_;
    float first_;
  };
};

}  // namespace mpitron::kernels::cuda
