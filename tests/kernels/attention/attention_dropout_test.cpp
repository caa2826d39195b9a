#include "kernels/host/attention/attention_dropout.h"

#include <gtest/gtest.h>

namespace mpitron::kernels::host::attention {
namespace attention_dropout_test {

/// All masks of a piece of a head against the definition.
void check(const DropoutMask& mask, const SequenceMap& keys, Index batch, Index head) {
  const HeadDropout dropout(mask, keys, batch, head);
  const GlobalIndexMap& index = mask.index;
  for (const Index row : {0, 2, 32, 62, 64, 100}) {
    for (const Index col : {0, 64, 128, 6400}) {
      const KeepMasks masks = dropout.masks(row, col);
      for (Index r = 0; r < kRows; ++r) {
        for (Index c = 0; c < kCols; ++c) {
          const bool want =
              attention_dropout_keeps(mask, index.sequence(row + r), keys(col + c),
                                      head + index.column_offset, index.sample(batch));
          ASSERT_EQ(masks.keep[r][c / 16] >> c % 16 & 1, want ? 1 : 0)
              << "row " << row + r << " column " << col + c << " head " << head;
        }
      }
    }
  }
}

TEST(AttentionDropout, MasksAreTheDefinition) {
  const GlobalIndexMap maps[] = {{},
                                 {0, {0, 4096}, 5, 2, 3},
                                 {32, {64, 200}, 0, 1, 0},   // zigzag: pairs stay pairs
                                 {63, {64, 128}, 1, 3, 12},  // a pair that lies across the split
                                 {0, {0, 7}, 0, 1, 0},       // pairs of different parts
                                 {33, {1, 1001}, 9, 4, 1}};
  for (const GlobalIndexMap& map : maps) {
    for (const double probability : {0.1, 0.5, 0.999}) {
      DropoutMask mask;
      mask.key = {42, 0xffffffffu};
      mask.threshold = dropout_threshold(probability);
      mask.index = map;
      for (const SequenceMap& keys : {SequenceMap{}, SequenceMap{64, {128, 640}},
                                      SequenceMap{70, {64, 128}}, SequenceMap{0, {0, 3}}}) {
        check(mask, keys, 0, 0);
        check(mask, keys, 3, 5);
      }
    }
  }
}

TEST(AttentionDropout, KeepsItsShareAndItsScale) {
  DropoutMask mask;
  mask.threshold = dropout_threshold(0.25);
  const SequenceMap keys;
  const HeadDropout dropout(mask, keys, 0, 0);
  EXPECT_FLOAT_EQ(dropout.keep_scale(), 1 / 0.75f);
  int kept = 0;
  for (Index row = 0; row < 402; row += kRows) {
    for (Index col = 0; col < 256; col += kCols) {
      const KeepMasks masks = dropout.masks(row, col);
      for (const auto& row_masks : masks.keep) {
        for (const Mask16 lanes : row_masks) {
          kept += __builtin_popcount(lanes);
        }
      }
    }
  }
  EXPECT_NEAR(kept / (402.0 * 256), 0.75, 0.007);  // 5 standard deviations
}

}  // namespace attention_dropout_test
}  // namespace mpitron::kernels::host::attention
