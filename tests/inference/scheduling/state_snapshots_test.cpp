#include "inference/scheduling/state_snapshots.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace state_snapshots_test {

using Use = StateSnapshots::Use;

Hash128 key(std::uint64_t number) {
  return {.high = 0, .low = number};
}

TEST(StateSnapshots, TakeThePlaceThatWasNotUsedForLongest) {
  StateSnapshots snapshots(10, 2);
  EXPECT_EQ(snapshots.keep(key(1), Use::likely), 10);
  EXPECT_EQ(snapshots.keep(key(2), Use::likely), 11);
  EXPECT_EQ(snapshots.keep(key(1), Use::likely), std::nullopt);  // is known, and used now
  EXPECT_EQ(snapshots.keep(key(3), Use::likely), 11);
  EXPECT_FALSE(snapshots.has(key(2)));
  EXPECT_EQ(snapshots.use(key(1)), 10);
  EXPECT_EQ(snapshots.keep(key(4), Use::likely), 11);
  EXPECT_EQ(snapshots.kept(), 2);
}

/// What a long text leaves on its way takes one place of others, and none of what is used.
TEST(StateSnapshots, PassingOnesGoFirst) {
  StateSnapshots snapshots(0, 3);
  snapshots.keep(key(1), Use::likely);
  snapshots.keep(key(2), Use::likely);
  for (std::uint64_t i = 10; i < 20; ++i) {
    EXPECT_EQ(snapshots.keep(key(i), Use::passing), 2);
  }
  EXPECT_TRUE(snapshots.has(key(1)) && snapshots.has(key(2)) && snapshots.has(key(19)));
  EXPECT_EQ(snapshots.use(key(19)), 2);
  EXPECT_EQ(snapshots.keep(key(3), Use::likely), 0);
}

TEST(StateSnapshots, ForgottenPlacesAreFree) {
  StateSnapshots snapshots(0, 1);
  snapshots.keep(key(1), Use::likely);
  snapshots.forget(key(7));
  EXPECT_EQ(snapshots.kept(), 1);
  snapshots.forget(key(1));
  EXPECT_EQ(snapshots.keep(key(2), Use::passing), 0);
  snapshots.clear();
  EXPECT_EQ(snapshots.kept(), 0);
  EXPECT_EQ(StateSnapshots(0, 0).keep(key(1), Use::likely), std::nullopt);
}

}  // namespace state_snapshots_test
}  // namespace mpitron::inference
