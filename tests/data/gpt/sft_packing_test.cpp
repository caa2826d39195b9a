#include "data/gpt/sft_packing.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace mpitron::data {
namespace sft_packing_test {

using Rows = std::vector<std::vector<Index>>;

Rows rows_of(const PackedRows& packed) {
  Rows rows;
  for (Index i = 0; i < packed.size(); ++i) {
    const auto row = packed.row(i);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

TEST(SftPacking, FillsTheFirstRowWithRoom) {
  const std::vector<Index> lengths{6, 5, 4, 5, 10, 1};
  EXPECT_EQ(rows_of(pack_first_fit(lengths, 10)), (Rows{{0, 2}, {1, 3}, {4}, {5}}));
}

TEST(SftPacking, TheLongestThatFitIsTakenFirst) {
  const std::vector<Index> lengths{3, 6, 4, 6, 1, 10};
  EXPECT_EQ(rows_of(pack_longest_first(lengths, 10, 6)), (Rows{{5}, {1, 2}, {3, 0, 4}}));
  EXPECT_EQ(rows_of(pack_longest_first(lengths, 10, 2)), (Rows{{1, 0}, {3, 2}, {5}, {4}}));
}

TEST(SftPacking, ClosesRowsBehindEachWindow) {
  const std::vector<Index> lengths{4, 4, 1, 1, 1};
  EXPECT_EQ(rows_of(pack_first_fit(lengths, 5, 2)), (Rows{{0}, {1}, {2, 3}, {4}}));
}

TEST(SftPacking, OfNothingThereAreNoRows) {
  EXPECT_EQ(pack_first_fit({}, 5).size(), 0);
}

TEST(SftPacking, EverySequenceIsInOneRowThatHoldsIt) {
  std::mt19937 random(7);
  for (std::size_t count = 1; count < 60; ++count) {
    std::vector<Index> lengths(count);
    std::ranges::generate(lengths, [&] { return static_cast<Index>(1 + random() % 16); });
    std::vector<int> seen(count);
    for (const auto& row : rows_of(pack_first_fit(lengths, 16, 7))) {
      Index tokens = 0;
      for (const Index sequence : row) {
        ++seen[static_cast<std::size_t>(sequence)];
        tokens += lengths[static_cast<std::size_t>(sequence)];
      }
      EXPECT_LE(tokens, 16);
      EXPECT_TRUE(!row.empty() && std::ranges::is_sorted(row));
    }
    EXPECT_EQ(seen, std::vector<int>(count, 1));
  }
}

}  // namespace sft_packing_test
}  // namespace mpitron::data
