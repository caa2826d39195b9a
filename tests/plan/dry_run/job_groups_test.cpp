#include "plan/dry_run/job_groups.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace job_groups_test {

TEST(JobGroups, AGroupIsWrittenDownOnce) {
  std::vector<JobGroup> groups;
  GroupTable table(groups);
  EXPECT_EQ(table.number("data", {0, 2}), 0u);
  EXPECT_EQ(table.number("data", {0, 4}), 1u);
  EXPECT_EQ(table.number("tensor", {0, 2}), 2u);
  EXPECT_EQ(table.number("data", {0, 2}), 0u);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[1].ranks, (std::vector<Index>{0, 4}));
}

TEST(JobGroups, ARankTellsItsGroupsWithoutAModel) {
  config::ParallelConfig parallel;
  parallel.world_size = 8;
  parallel.tensor_model_parallel_size = 2;
  const auto made = groups_made_by(3, 8, parallel);
  EXPECT_FALSE(made.empty());
  bool pair = false;
  for (const auto& [name, ranks] : made) {
    EXPECT_NE(std::ranges::find(ranks, 3), ranks.end()) << name;
    pair = pair || ranks == std::vector<Index>{2, 3};
  }
  EXPECT_TRUE(pair);
}

}  // namespace job_groups_test
}  // namespace mpitron::plan
