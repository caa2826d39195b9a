#include "kernels/host/common/dropout_lanes.h"

#include <gtest/gtest.h>

namespace mpitron::kernels::host {
namespace dropout_lanes_test {

DropoutMask mask_of(double probability) {
  DropoutMask mask;
  mask.key = {0xfedcba98u, 77};
  mask.threshold = dropout_threshold(probability);
  return mask;
}

void expect_lanes(KeepLanes& keep, const DropoutMask& mask, Index column, Index sequence,
                  Index sample) {
  const simd::Int lanes = keep(column);
  for (int i = 0; i < simd::kLanes; ++i) {
    EXPECT_EQ(lanes[i], dropout_keeps(mask, column + i, sequence, sample) ? -1 : 0)
        << "column " << column + i << " of " << sequence << ", " << sample;
  }
}

TEST(KeepLanes, AreTheDefinition) {
  for (const double probability : {0.0, 1e-4, 0.1, 0.5, 0.99}) {
    const DropoutMask mask = mask_of(probability);
    for (const Index sequence : {Index{0}, Index{4097}, (Index{1} << 32) - 1}) {
      for (const Index sample : {Index{0}, Index{12345}, (Index{1} << 33) + 7}) {
        KeepLanes keep(mask, sequence, sample);
        for (Index column = 0; column < 400; column += 16) {
          expect_lanes(keep, mask, column, sequence, sample);
        }
      }
    }
  }
}

// A shard of the columns may start anywhere, and nobody has to ask in order.
TEST(KeepLanes, FromAnyColumnInAnyOrder) {
  const DropoutMask mask = mask_of(0.3);
  KeepLanes keep(mask, 3, 4);
  for (const Index column : {7, 128, 0, 1000, 127, 129, 112, 16, 48, 1008, 5, 64}) {
    expect_lanes(keep, mask, column, 3, 4);
  }
}

TEST(KeepLanes, KeepTheirShare) {
  const DropoutMask mask = mask_of(0.25);
  Index kept = 0, both = 0;
  constexpr Index kRows = 100, kColumns = 1024;
  for (Index row = 0; row < kRows; ++row) {
    KeepLanes one(mask, row, 0), next(mask, row + 1, 0);
    for (Index column = 0; column < kColumns; column += simd::kLanes) {
      const simd::Int a = one(column), b = next(column);
      for (int i = 0; i < simd::kLanes; ++i) {
        kept -= a[i];
        both += a[i] & b[i] & 1;
      }
    }
  }
  // 5 standard deviations of 102400 draws; rows are independent of their neighbours
  EXPECT_NEAR(static_cast<double>(kept) / (kRows * kColumns), 0.75, 0.007);
  EXPECT_NEAR(static_cast<double>(both) / (kRows * kColumns), 0.75 * 0.75, 0.008);
}

}  // namespace dropout_lanes_test
}  // namespace mpitron::kernels::host
