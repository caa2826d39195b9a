#include "utils/numbers/sequence_map.h"

#include <gtest/gtest.h>

#include "support/golden_tables.h"

namespace mpitron {
namespace sequence_map_test {

std::vector<Index> positions(const SequenceSlice& slice) {
  std::vector<Index> result;
  for (Index i = 0; i < slice.length; ++i) {
    result.push_back(slice.map(i));
  }
  return result;
}

TEST(ZigzagSlice, IsTheReferences) {
  Index rows = 0;
  for (const auto& row : test::golden_table("context_parallel_slices")) {
    const Index length = row.at("sequence"), ranks = row.at("cp");
    const auto& expected = row.at("ranks");
    ASSERT_EQ(static_cast<Index>(expected.size()), ranks);
    for (Index rank = 0; rank < ranks; ++rank) {
      const auto& of_rank = expected.at(static_cast<std::size_t>(rank));
      const std::vector<Index> got = positions(zigzag_slice(length, ranks, rank));
      EXPECT_EQ(got, of_rank.at("tokens").get<std::vector<Index>>());
      EXPECT_EQ(got, of_rank.at("attention_mask_rows").get<std::vector<Index>>());
      ++rows;
    }
  }
  EXPECT_GT(rows, 0);
}

TEST(ZigzagSlice, SlicesTogetherAreTheSequence) {
  for (const Index ranks : {1, 2, 3, 8}) {
    std::vector<bool> seen(static_cast<std::size_t>(ranks * 2 * 5));
    for (Index rank = 0; rank < ranks; ++rank) {
      const SequenceSlice slice = zigzag_slice(ranks * 2 * 5, ranks, rank);
      EXPECT_EQ(slice.length, 10);
      for (const Index position : positions(slice)) {
        EXPECT_FALSE(seen.at(static_cast<std::size_t>(position)));
        seen.at(static_cast<std::size_t>(position)) = true;
      }
    }
  }
}

TEST(ZigzagSlice, OneRankHasAnyLength) {
  EXPECT_EQ(positions(zigzag_slice(3, 1, 0)), (std::vector<Index>{0, 1, 2}));
  EXPECT_TRUE(zigzag_slice(3, 1, 0).map.whole());
  EXPECT_THROW(zigzag_slice(6, 2, 0), std::exception);
  EXPECT_THROW(zigzag_slice(8, 2, 2), std::exception);
}

TEST(SequenceMap, CountsWhatStandsBefore) {
  for (const SequenceMap& map : {SequenceMap{}, SequenceMap{3, {2, 7}}, SequenceMap{0, {9, 4}},
                                 SequenceMap{4, {0, 0}}, SequenceMap{1, {5, 5}}}) {
    for (Index position = 0; position < 40; ++position) {
      Index count = 0;
      while (map(count) < position) {
        ++count;
      }
      EXPECT_EQ(map.count_before(position), count) << position;
    }
  }
}

TEST(SequenceMap, FromAPositionOnIsAMapOfTheRest) {
  const SequenceMap map{3, {2, 7}};
  for (const Index first : {0, 2, 3, 5}) {
    for (Index i = 0; i < 6; ++i) {
      EXPECT_EQ(map.from(first)(i), map(first + i));
    }
  }
}

}  // namespace sequence_map_test
}  // namespace mpitron
