#pragma once
#include "kernels/attention/attention.h"
#include "kernels/host/attention/attention_product.h"

namespace mpitron::kernels::host::attention {

struct KeepMasks {
  Mask16 keep[kRows][4];  // of rows row + m; columns col + 16 i
};

/// Draws attention_dropout_keeps for one head, of a block of 6 rows x 64 keys: of each two rows,
/// one Philox call in 16 lanes.
class HeadDropout {
 public:
  HeadDropout(const DropoutMask& mask, const SequenceMap& keys, Index batch, Index head)
      : mask_(mask),
        round_keys_(Philox::keys_of(mask.key)),
        keys_(keys),
        head_(head + mask.index.column_offset),
        sample_(mask.index.sample(batch)),
        aligned_(aligned(mask.index.sequence, 2) && aligned(keys, kCols)) {}

  float keep_scale() const { return mask_.keep_scale(); }

  /// `row` is even, `col` a multiple of 64. Rows behind the last may hold anything.
  [[gnu::always_inline]] KeepMasks masks(Index row, Index col) const {
    KeepMasks out;
    if (!aligned_) [[unlikely]] {
      return masks_one_by_one(row, col);
    }
    const auto block = static_cast<std::uint32_t>(keys_(col) / kCols * 16);
    const auto pair = [&](Index r) {
      return static_cast<std::uint32_t>(mask_.index.sequence(row + r) / 2);
    };
    const auto head = static_cast<std::uint32_t>(head_),
               sample = static_cast<std::uint32_t>(sample_);
    philox_keep({{block, pair(0), head, sample},
                 {block, pair(2), head, sample},
                 {block, pair(4), head, sample}},
                round_keys_, mask_.threshold, out.keep);
    return out;
  }

 private:
  /// Tells whether each pair of rows, or 64 keys, are one of the global mask, too.
  static bool aligned(const SequenceMap& map, Index unit) {
    return (map.offset[0] | map.offset[1] | map.split) % unit == 0;
  }
  [[gnu::noinline]] KeepMasks masks_one_by_one(Index row, Index col) const {
    KeepMasks out{};
    for (Index r = 0; r < kRows; ++r) {
      for (Index c = 0; c < kCols; ++c) {
        const bool keep = attention_dropout_keeps(mask_, mask_.index.sequence(row + r),
                                                  keys_(col + c), head_, sample_);
        auto& lanes = out.keep[r][c / 16];
        lanes = static_cast<Mask16>(lanes | static_cast<unsigned>(keep) << c % 16);
      }
    }
    return out;
  }

  const DropoutMask& mask_;
  const Philox::Keys round_keys_;
  const SequenceMap& keys_;
  const Index head_, sample_;
  const bool aligned_;
};

}  // namespace mpitron::kernels::host::attention
