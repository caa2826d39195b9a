#include "ops/parallel/tensor_parallel.h"

#include <gtest/gtest.h>

#include "comm/groups/world.h"

namespace mpitron::ops {
namespace tensor_parallel_test {

TEST(TensorParallel, NobodyElseCutsNothing) {
  const TensorParallel alone{.sequence_parallel = true, .overlap = true};
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.rank(), 0);
  EXPECT_FALSE(alone.shared() || alone.cuts_sequence() || alone.overlaps());
}

TEST(TensorParallel, OverlapNeedsACutSequence) {
  const auto world = comm::make_fake_world(1, 2);
  const auto group = world->make_group("tensor", {0, 1});
  TensorParallel shared{.group = group.get(), .overlap = true};
  EXPECT_EQ(shared.rank(), 1);
  EXPECT_TRUE(shared.shared());
  EXPECT_FALSE(shared.cuts_sequence() || shared.overlaps());
  shared.sequence_parallel = true;
  EXPECT_TRUE(shared.cuts_sequence() && shared.overlaps());
}

}  // namespace tensor_parallel_test
}  // namespace mpitron::ops
