#include "train/log/rank_spread.h"

#include <gtest/gtest.h>

namespace mpitron::train {
namespace rank_spread_test {

TEST(RankSpread, NamesTheRankThatOthersWaitFor) {
  const RankSpread spread = gather_spread({}, [](std::span<const float> own) {
    EXPECT_EQ(own.size(), 2U);
    return std::vector<float>{1.0F, 10, 1.5F, 30, 4.0F, 20};
  });
  EXPECT_EQ(spread.fastest, 1.0F);
  EXPECT_EQ(spread.median, 1.5F);
  EXPECT_EQ(spread.slowest, 4.0F);
  EXPECT_EQ(spread.slowest_rank, 2);
  EXPECT_EQ(spread.most_memory_mib, 30.0F);
}

TEST(RankSpread, OfOneRankIsThatRank) {
  const RankSpread spread = gather_spread(
      {.busy_seconds = 0.5F, .memory_mib = 7},
      [](std::span<const float> own) { return std::vector<float>(own.begin(), own.end()); });
  EXPECT_EQ(spread.fastest, 0.5F);
  EXPECT_EQ(spread.slowest, 0.5F);
  EXPECT_EQ(spread.slowest_rank, 0);
  EXPECT_EQ(spread.most_memory_mib, 7.0F);
}

}  // namespace rank_spread_test
}  // namespace mpitron::train
