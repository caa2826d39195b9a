#include "checkpoint/plan/holdings.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::checkpoint {
namespace holdings_test {

TEST(Holdings, RanksThatHoldNothingShareOneStructure) {
  const std::vector<Description> ranks(3, Description(std::span<const tensor::ShardedTensor>()));
  const Holdings holdings = make_holdings(ranks);
  EXPECT_EQ(holdings.ranks(), 3);
  EXPECT_EQ(holdings.structures.size(), 1U);
  EXPECT_TRUE(holdings.data_sets.empty());
  EXPECT_TRUE(holdings.items(2).empty());
}

}  // namespace holdings_test
}  // namespace mpitron::checkpoint
