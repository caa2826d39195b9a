#include "corpus/duplicate_groups.h"

#include <gtest/gtest.h>

namespace mpitron::corpus {
namespace duplicate_groups_test {

TEST(DuplicateGroupsTest, JoinsByWayOfOthers) {
  DuplicateGroups groups(8);
  groups.join(5, 2);
  groups.join(7, 6);
  groups.join(5, 3);
  groups.join(3, 2);
  EXPECT_EQ(groups.first(3), 2);
  EXPECT_EQ(groups.first(5), 2);
  EXPECT_EQ(groups.first(4), 4);
  EXPECT_EQ(groups.groups(), (std::vector<std::vector<Index>>{{2, 3, 5}, {6, 7}}));
  groups.join(6, 0);
  EXPECT_EQ(groups.first(7), 0);
}

}  // namespace duplicate_groups_test
}  // namespace mpitron::corpus
