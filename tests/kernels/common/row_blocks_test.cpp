#include "kernels/host/common/row_blocks.h"

#include <gtest/gtest.h>

#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels::host {
namespace row_blocks_test {

TEST(BlockSums, CoverEveryRowWithFewBlocks) {
  for (const Index t : {0, 1, 15, 16, 17, 1000, 1024, 1025, 16384, 100000}) {
    const Index rows = BlockSums::rows_of(t), blocks = BlockSums::count_of(t);
    EXPECT_GE(blocks * rows, t) << t;
    EXPECT_LT((blocks - 1) * rows, t) << t;
    EXPECT_LE(blocks, 64) << t;
    EXPECT_GE(rows, 16) << t;
  }
}

constexpr Index kWidth = 5001;  // more than a tile of columns

float summand(Index block, Index column) {
  return 1.f / static_cast<float>(1 + block * kWidth + column);
}
/// Of the blocks [begin, begin + size), cut at `blocks`: halves of halves.
float sum_of(Index begin, Index size, Index blocks, Index column) {
  if (size == 1) {
    return summand(begin, column);
  }
  const Index half = size / 2;
  const float first = sum_of(begin, half, blocks, column);
  return begin + half < blocks ? first + sum_of(begin + half, half, blocks, column) : first;
}

/// As if as many threads as `cuts` has ranges summed the blocks.
std::vector<double> totals(Index blocks, const std::vector<Index>& cuts, bool accumulate) {
  const Index t = blocks * 16;
  TestTensor workspace(DType::f32, {blocks * kWidth});
  BlockSums sums(t, kWidth, workspace.view());
  for (std::size_t range = 0; range + 1 < cuts.size(); ++range) {
    for (Index block = cuts[range]; block < cuts[range + 1]; ++block) {
      for (Index i = 0; i < kWidth; ++i) {
        sums[block][i] = summand(block, i);
      }
      sums.finish(block, cuts[range]);
    }
  }
  constexpr Index kFirst = 3;
  TestTensor target(DType::f32, {kWidth - kFirst},
                    std::vector<double>(static_cast<std::size_t>(kWidth - kFirst), 2));
  sums.total(kFirst, target.view(), accumulate);
  const std::vector<double> got = target.values();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float sum = sum_of(0, 64, blocks, kFirst + static_cast<Index>(i));
    EXPECT_EQ(got[i], accumulate ? 2 + sum : sum) << i << " of " << blocks;
  }
  return got;
}

TEST(BlockSums, AreAddedInPairsWhoeverMadeThem) {
  for (const Index blocks : {1, 2, 3, 5, 8, 13, 63, 64}) {
    const auto one = totals(blocks, {0, blocks}, false);
    EXPECT_EQ(totals(blocks, {0, blocks / 2, blocks}, false), one);
    EXPECT_EQ(totals(blocks, {0, blocks / 3, blocks / 3, blocks / 2, blocks - 1, blocks}, false),
              one);
    std::vector<Index> each;
    for (Index block = 0; block <= blocks; ++block) {
      each.push_back(block);
    }
    EXPECT_EQ(totals(blocks, each, false), one);
  }
}

TEST(BlockSums, AreAddedToWhatIsThere) {
  totals(7, {0, 3, 7}, true);
}

}  // namespace row_blocks_test
}  // namespace mpitron::kernels::host
