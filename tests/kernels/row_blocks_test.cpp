#include "kernels/host/row_blocks.h"

#include <gtest/gtest.h>

#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels::host {
namespace {

TEST(RowBlocks, CoverEveryRowWithFewBlocks) {
  for (const Index t : {0, 1, 15, 16, 17, 1000, 1024, 1025, 16384, 100000}) {
    const Index rows = block_rows(t), blocks = block_count(t);
    EXPECT_GE(blocks * rows, t) << t;
    EXPECT_LT((blocks - 1) * rows, t) << t;
    EXPECT_LE(blocks, 64) << t;
    EXPECT_GE(rows, 16) << t;
  }
}

TEST(RowBlocks, PartialSumsAreAddedInOrderAndToTheOldOnes) {
  constexpr Index kBlocks = 3, kWidth = 5000, kStride = kWidth + 7;  // more than a tile of columns
  std::vector<float> partial(kBlocks * kStride);
  for (std::size_t i = 0; i < partial.size(); ++i) {
    partial[i] = 1.f / static_cast<float>(i + 1);
  }
  for (const bool accumulate : {false, true}) {
    TestTensor target(DType::f32, {kWidth}, std::vector<double>(kWidth, 2));
    reduce_blocks(partial.data(), kBlocks, kStride, target.view(), accumulate);
    const auto sums = target.values();
    for (Index i = 0; i < kWidth; ++i) {
      const auto at = [&](Index block) {
        return partial[static_cast<std::size_t>(block * kStride + i)];
      };
      const float sum = at(0) + at(1) + at(2);
      EXPECT_EQ(sums[static_cast<std::size_t>(i)], accumulate ? 2 + sum : sum) << i;
    }
  }
}

}  // namespace
}  // namespace mpitron::kernels::host
