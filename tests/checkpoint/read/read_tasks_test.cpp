#include "checkpoint/read/read_tasks.h"

#include <gtest/gtest.h>

namespace mpitron::checkpoint {
namespace read_tasks_test {

std::vector<ReadTask> tasks_of(const ReadRequest& request, std::vector<Index> sizes) {
  std::vector<ReadTask> tasks;
  Index begin = 0;
  for (const Index size : sizes) {
    tasks.push_back({&request, begin, begin + size, 4 * begin});
    begin += size;
  }
  return tasks;
}

TEST(ReadTasks, StretchesHaveAboutAsManyBytesEach) {
  const ReadRequest request{.data_set = {.name = "x", .shape = {100}, .dtype = DType::f32}};
  std::vector<ReadTask> tasks = tasks_of(request, {10, 10, 10, 10, 40, 20});
  const auto stretches = make_stretches(tasks, 2, 0);
  ASSERT_EQ(stretches.size(), 2u);
  EXPECT_EQ(stretches[0].size() + stretches[1].size(), 6u);
  EXPECT_GE(stretches[0].back().end, 50);
}

TEST(ReadTasks, AStretchBeginsAtItsPlace) {
  const ReadRequest request{.data_set = {.name = "x", .shape = {40}, .dtype = DType::f32}};
  std::vector<ReadTask> tasks = tasks_of(request, {10, 10, 10, 10});
  const auto stretches = make_stretches(tasks, 1, 0.5);
  ASSERT_EQ(stretches.size(), 1u);
  EXPECT_EQ(stretches[0].front().begin, 20);
  EXPECT_EQ(stretches[0].back().begin, 10);
}

}  // namespace read_tasks_test
}  // namespace mpitron::checkpoint
