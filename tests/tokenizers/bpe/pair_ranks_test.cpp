#include "tokenizers/bpe/pair_ranks.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace pair_ranks_test {

TEST(PairRanks, AgreesWithAMap) {
  std::mt19937 random(3);
  std::map<std::pair<TokenId, TokenId>, std::uint32_t> expected;
  std::vector<BpeModel::Merge> merges;
  while (merges.size() < 5000) {
    const auto left = static_cast<TokenId>(random() % 300),
               right = static_cast<TokenId>(random() % 300);
    if (expected.emplace(std::pair(left, right), merges.size()).second) {
      merges.push_back({left, right, 0});
    }
  }
  const PairRanks ranks(merges);
  for (TokenId left = 0; left < 300; ++left) {
    for (TokenId right = 0; right < 300; ++right) {
      const auto found = expected.find({left, right});
      ASSERT_EQ(ranks.rank(left, right), found == expected.end() ? PairRanks::kNone : found->second)
          << left << ' ' << right;
    }
  }
}

TEST(PairRanks, KeepsTheLargestIdsApart) {
  const auto last = static_cast<TokenId>(PairRanks::kMaxTokens - 1);
  const PairRanks ranks({{last, 0, 0}, {0, last, 0}, {last, last, 0}});
  EXPECT_EQ(ranks.rank(last, 0), 0U);
  EXPECT_EQ(ranks.rank(0, last), 1U);
  EXPECT_EQ(ranks.rank(last, last), 2U);
  EXPECT_EQ(ranks.rank(0, 0), PairRanks::kNone);
}

TEST(PairRanks, WithoutMergesNothingMerges) {
  EXPECT_EQ(PairRanks({}).rank(0, 0), PairRanks::kNone);
}

}  // namespace pair_ranks_test
}  // namespace mpitron::tokenizers
