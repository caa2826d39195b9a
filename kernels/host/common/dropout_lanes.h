#pragma once
#include "kernels/elementwise/dropout.h"
#include "kernels/host/common/simd.h"

namespace mpitron::kernels::host {

/// dropout_keeps in sixteen lanes along one row: lanes(column) is all ones where the column is
/// kept. One Philox call serves eight vectors as long as the columns come in order.
class KeepLanes {
 public:
  KeepLanes(const DropoutMask& mask, Index sequence, Index sample)
      : mask_(mask), sequence_(sequence), sample_(sample) {}

  /// Inlined: by a call, a loop around it waits for its memory.
  [[gnu::always_inline]] simd::Int operator()(Index column) {
    if (column % simd::kLanes != 0) [[unlikely]] {
      return one_by_one(column);
    }
    if (column / kBlock != block_) {
      block_ = column / kBlock;
      refill();
    }
    return bits_[column / simd::kLanes % (kBlock / simd::kLanes)] >= mask_.threshold;
  }

 private:
  static constexpr Index kBlock = 128;

  void refill() {
    const simd::UInt lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const auto sample = static_cast<std::uint64_t>(sample_);
    const auto words = simd::philox({lane + static_cast<std::uint32_t>(block_ * simd::kLanes),
                                     simd::UInt{} + static_cast<std::uint32_t>(sequence_),
                                     simd::UInt{} + static_cast<std::uint32_t>(sample),
                                     simd::UInt{} + static_cast<std::uint32_t>(sample >> 32)},
                                    mask_.key);
    for (std::size_t w = 0; w < 4; ++w) {
      bits_[w] = words[w] & 0xffffu;
      bits_[w + 4] = words[w] >> 16;
    }
  }
  /// A tensor whose first column is not at a multiple of sixteen.
  simd::Int one_by_one(Index column) const {
    simd::Int keep;
    for (int i = 0; i < simd::kLanes; ++i) {
      keep[i] = dropout_keeps(mask_, column + i, sequence_, sample_) ? -1 : 0;
    }
    return keep;
  }

  const DropoutMask& mask_;
  Index sequence_, sample_;
  Index block_ = -1;
  simd::UInt bits_[8];
};

}  // namespace mpitron::kernels::host
