#include <gtest/gtest.h>

#include "launch/rank_place.h"

namespace mpitron::launch {
namespace name_ranges_test {

TEST(NameRanges, NamesAreFoldedAsSlurmWritesThem) {
  EXPECT_EQ(name_ranges({}), "");
  EXPECT_EQ(name_ranges({"login"}), "login");
  EXPECT_EQ(name_ranges({"node1", "node2", "node3"}), "node[1-3]");
  EXPECT_EQ(name_ranges({"node09", "node10", "node12"}), "node[09-10,12]");
  EXPECT_EQ(name_ranges({"gpu1", "cpu1", "cpu2"}), "gpu1,cpu[1-2]");
  // Other widths are other names.
  EXPECT_EQ(name_ranges({"node9", "node10"}), "node9,node10");
  EXPECT_EQ(name_ranges({"a", "b"}), "a,b");
}

}  // namespace name_ranges_test

}  // namespace mpitron::launch
