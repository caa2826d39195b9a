#include "config/text_task.h"

#include <gtest/gtest.h>

#include "config/values/option_table.h"

namespace mpitron::config {
namespace text_task_test {

TEST(TextTask, EveryChoiceOfTheOptionHasAHead) {
  const OptionIndex& index = option_index();
  const std::vector<std::string> names =
      split_words(index.option(index.slot_of_name("task")).choices);
  EXPECT_EQ(names.size(), 10u);
  for (const std::string& name : names) {
    const TextTask* const task = find_text_task(name);
    ASSERT_NE(task, nullptr) << name;
    EXPECT_GT(task->head.columns(), task->head.score ? 0 : 1) << name;
  }
  EXPECT_EQ(find_text_task("mnli"), nullptr);
}

TEST(TextTask, AChoiceHasANumberForEachText) {
  const TextHead& head = find_text_task("RACE")->head;
  EXPECT_EQ(head.outputs, 1);
  EXPECT_EQ(head.columns(), 4);
}

}  // namespace text_task_test
}  // namespace mpitron::config
