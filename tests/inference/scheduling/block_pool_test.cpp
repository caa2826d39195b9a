#include "inference/scheduling/block_pool.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "utils/check.h"

namespace mpitron::inference {
namespace block_pool_test {

TEST(BlockPool, FindsBlocksByTheTokensThatLeadToThem) {
  BlockPool pool(3, 2);
  const TokenIds first = {1, 2}, second = {3, 4};
  const Hash128 root = hash128("model");
  const Index a = *pool.take(), b = *pool.take();
  const Hash128 after = pool.remember(a, root, first);
  pool.remember(b, after, second);
  pool.give_back(b);
  pool.give_back(a);
  EXPECT_EQ(pool.available(), 3);
  ASSERT_TRUE(pool.find(root, first));
  EXPECT_EQ(pool.find(root, first)->block, a);
  EXPECT_EQ(pool.users(a), 2);
  EXPECT_EQ(pool.find(after, second)->block, b);
  EXPECT_FALSE(pool.find(root, second));
  EXPECT_FALSE(pool.find(hash128("other model"), first));
}

TEST(BlockPool, TakesUnknownBlocksFirstThenTheOldest) {
  BlockPool pool(3, 1);
  const Hash128 root = hash128("");
  const Index a = *pool.take(), b = *pool.take();
  const TokenIds ids = {7}, other = {8};
  pool.remember(a, root, ids);
  pool.remember(b, root, other);
  pool.give_back(b);
  pool.give_back(a);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.take(), b);
  EXPECT_FALSE(pool.find(root, other));
  EXPECT_EQ(pool.find(root, ids)->block, a);
  EXPECT_EQ(pool.take(), std::nullopt);
}

TEST(BlockPool, EqualBlocksHaveOneKey) {
  BlockPool pool(2, 1);
  const Hash128 root = hash128("");
  const TokenIds ids = {7};
  const Index a = *pool.take(), b = *pool.take();
  const Hash128 key = pool.remember(a, root, ids);
  EXPECT_EQ(pool.remember(b, root, ids), key);
  pool.give_back(b);
  EXPECT_EQ(pool.take(), b);  // was not known
  EXPECT_EQ(pool.find(root, ids)->block, a);
}

/// What a pool finds is what a map of all known tokens would.
TEST(BlockPool, FindsAsAMapWould) {
  constexpr Index kBlocks = 13;
  BlockPool pool(kBlocks, 1);
  std::map<TokenId, Index> known;
  std::mt19937 random(1);
  const Hash128 root = hash128("");
  for (int i = 0; i < 20000; ++i) {
    const TokenIds ids = {static_cast<TokenId>(random() % 40)};
    const auto found = pool.find(root, ids);
    ASSERT_EQ(found.has_value(), known.contains(ids[0])) << i;
    if (found) {
      ASSERT_EQ(found->block, known.at(ids[0]));
      pool.give_back(found->block);
      continue;
    }
    const Index block = *pool.take();
    std::erase_if(known, [&](const auto& each) { return each.second == block; });
    pool.remember(block, root, ids);
    known[ids[0]] = block;
    pool.give_back(block);
  }
  EXPECT_EQ(pool.available(), kBlocks);
}

TEST(BlockPool, OwnersHaveTheirOwnBlocks) {
  BlockPool pool(5, 1, 2);  // 0, 2 and 4; 1 and 3
  EXPECT_EQ(pool.available(), 5);
  EXPECT_EQ(pool.available(0), 3);
  EXPECT_EQ(pool.available(1), 2);
  const Index first = *pool.take(1), second = *pool.take(1);
  EXPECT_EQ(first % 2, 1);
  EXPECT_EQ(second % 2, 1);
  EXPECT_EQ(pool.take(1), std::nullopt);
  EXPECT_EQ(*pool.take(0) % 2, 0);
  pool.remember(first, hash128(""), TokenIds{7});
  pool.give_back(first);
  EXPECT_EQ(pool.available(1), 1);
  EXPECT_EQ(pool.take(1), first);
}

TEST(BlockPool, RefusesABlockGivenBackTwice) {
  BlockPool pool(1, 1);
  pool.give_back(*pool.take());
  EXPECT_ANY_THROW(pool.give_back(0));
}

}  // namespace block_pool_test
}  // namespace mpitron::inference
