#include "checkpoint/write/staging_ring.h"

#include <gtest/gtest.h>

namespace mpitron::checkpoint {
namespace staging_ring_test {

constexpr Index kPage = 4096;

TEST(StagingRing, HasRoomOnceTheOldestIsReleased) {
  StagingRing ring(4 * kPage);
  std::vector<StagingRing::Block> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(ring.allocate(kPage - i));
    ASSERT_NE(blocks.back().data, nullptr);
    EXPECT_EQ(blocks.back().data, blocks.front().data + i * kPage);
  }
  EXPECT_EQ(ring.allocate(1).data, nullptr);
  ring.release(blocks[0]);
  EXPECT_EQ(ring.allocate(1).data, blocks[0].data);
  EXPECT_EQ(ring.allocate(1).data, nullptr);
}

TEST(StagingRing, ABlockIsNeverCutAtTheEnd) {
  StagingRing ring(4 * kPage);
  const StagingRing::Block first = ring.allocate(2 * kPage), second = ring.allocate(kPage);
  ring.release(first);
  const StagingRing::Block third = ring.allocate(2 * kPage);  // one page at the end is left out
  EXPECT_EQ(third.data, first.data);
  EXPECT_EQ(ring.allocate(kPage).data, nullptr);
  ring.release(second);
  EXPECT_EQ(ring.allocate(kPage).data, second.data);
}

}  // namespace staging_ring_test
}  // namespace mpitron::checkpoint
