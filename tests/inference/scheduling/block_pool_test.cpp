#include "inference/scheduling/block_pool.h"

#include <gtest/gtest.h>

#include "utils/check.h"

namespace mpitron::inference {
namespace block_pool_test {

TEST(BlockPool, FindsBlocksByTheTokensThatLeadToThem) {
  BlockPool pool(3);
  const TokenIds first = {1, 2}, second = {3, 4};
  const Hash128 root = hash128("model"), after = BlockPool::key(root, first);
  const Index a = *pool.take(), b = *pool.take();
  pool.remember(a, after, first);
  pool.remember(b, BlockPool::key(after, second), second);
  pool.give_back(b);
  pool.give_back(a);
  EXPECT_EQ(pool.available(), 3);
  EXPECT_EQ(pool.find(after, first), a);
  EXPECT_EQ(pool.find(after, first), a);
  EXPECT_EQ(pool.users(a), 2);
  EXPECT_EQ(pool.find(after, second), std::nullopt);
  EXPECT_EQ(pool.find(BlockPool::key(root, second), second), std::nullopt);
}

TEST(BlockPool, TakesUnknownBlocksFirstThenTheOldest) {
  BlockPool pool(3);
  const Index a = *pool.take(), b = *pool.take();
  const TokenIds ids = {7}, other = {8};
  pool.remember(a, hash128("a"), ids);
  pool.remember(b, hash128("b"), other);
  pool.give_back(b);
  pool.give_back(a);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.take(), b);
  EXPECT_EQ(pool.find(hash128("b"), other), std::nullopt);
  EXPECT_EQ(pool.find(hash128("a"), ids), a);
  EXPECT_EQ(pool.take(), std::nullopt);
}

TEST(BlockPool, ComparesTokensWhereKeysAreEqual) {
  BlockPool pool(1);
  const TokenIds ids = {7}, other = {8};
  pool.remember(*pool.take(), hash128("k"), ids);
  EXPECT_EQ(pool.find(hash128("k"), other), std::nullopt);
}

TEST(BlockPool, ForgetsWhatNobodyUses) {
  BlockPool pool(1);
  const TokenIds ids = {7};
  pool.remember(*pool.take(), hash128("k"), ids);
  pool.give_back(0);
  pool.forget_idle();
  EXPECT_EQ(pool.find(hash128("k"), ids), std::nullopt);
  EXPECT_EQ(pool.available(), 1);
}

TEST(BlockPool, RefusesABlockGivenBackTwice) {
  BlockPool pool(1);
  pool.give_back(*pool.take());
  EXPECT_ANY_THROW(pool.give_back(0));
}

}  // namespace block_pool_test
}  // namespace mpitron::inference
