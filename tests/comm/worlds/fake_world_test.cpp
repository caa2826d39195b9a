#include <gtest/gtest.h>

#include "comm/groups/world.h"

namespace mpitron::comm {
namespace fake_world_test {

TEST(FakeWorld, IsOneRankOfManyThatWaitsForNobody) {
  const auto world = make_fake_world(5, 8);
  EXPECT_EQ(world->rank(), 5);
  EXPECT_EQ(world->size(), 8);
  const auto group = world->make_group("odd", {1, 3, 5, 7});
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->rank(), 2);
  EXPECT_EQ(group->world_rank(3), 7);
  group->barrier();  // comes back though nobody else is there
}

}  // namespace fake_world_test
}  // namespace mpitron::comm
