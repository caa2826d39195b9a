#include "inference/tasks/task_file.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::inference {
namespace task_file_test {

class TaskFileTest : public ::testing::Test {
 protected:
  EvaluationTask task(const std::string& yaml) const {
    test::write_bytes(folder_ / "task.yaml", yaml);
    return EvaluationTask::read(folder_ / "task.yaml");
  }
  std::string problem(const std::string& yaml) const {
    return test::message_of([&] { task(yaml); });
  }
  const test::TemporaryFolder folder_;
};

constexpr const char* kPair = R"(
task: pair
dataset_path: somebody/pair
doc_to_text: "Q: {{q}}?"
doc_to_choice: ["{{a}}", "{{b}}"]
doc_to_target: label
metric_list:
  - metric: acc
    aggregation: mean
)";

TEST_F(TaskFileTest, HasWhatTheFileSays) {
  const EvaluationTask pair = task(kPair);
  EXPECT_EQ(pair.name, "pair");
  EXPECT_FALSE(pair.generates);
  EXPECT_EQ(pair.target_delimiter, " ");
  EXPECT_EQ(pair.fewshot_delimiter, "\n\n");
  EXPECT_EQ(pair.choices.size(), 2U);
  EXPECT_EQ(pair.filters.size(), 1U);
  const EvaluationTask list = task(
      "task: list\ndoc_to_text: a\ndoc_to_choice: options\ndoc_to_target: key\n"
      "target_delimiter: \"\"\nnum_fewshot: 3\nfewshot_config: {sampler: first_n}\n");
  EXPECT_TRUE(list.choices_are_a_list);
  EXPECT_EQ(list.target_delimiter, "");
  EXPECT_EQ(list.examples, 3U);
  EXPECT_TRUE(list.first_examples);
}

TEST_F(TaskFileTest, TasksThatComeAlongAreRead) {
  int read = 0;
  for (const auto& file : std::filesystem::directory_iterator(MPITRON_SOURCE_DIR "/jobs/tasks")) {
    const EvaluationTask own = EvaluationTask::read(file.path());
    EXPECT_EQ(own.name, file.path().stem());
    EXPECT_EQ(own.generates, own.choices.empty());
    ++read;
  }
  EXPECT_GE(read, 7);
}

TEST_F(TaskFileTest, SaysWhatIsWrong) {
  const auto expect_told = [&](const std::string& yaml, const std::string& part) {
    EXPECT_NE(problem(yaml).find(part), std::string::npos) << problem(yaml);
  };
  expect_told("task: x\ndoc_to_text: y\n", "key doc_to_target is missing");
  expect_told("task: x\ndoc_to_text: y\ndoc_to_target: z\n", "key doc_to_choice is missing");
  expect_told(std::string(kPair) + "include: other\n", "unknown key include");
  expect_told(std::string(kPair) + "clean: all\n", "known is wikihow");
  expect_told(std::string(kPair) + "doc_to_image: a\n", "output_type generate_until is needed");
  expect_told(std::string(kPair) + "output_type: loglikelihood\n", "generate_until");
  expect_told(std::string(kPair) + "fewshot_config: {sampler: last}\n", "first_n");
  expect_told("task: x\ndoc_to_text: !function f.g\ndoc_to_target: z\n", "Python functions");
  expect_told(
      "task: x\ndoc_to_text: y\ndoc_to_choice: [a, b]\ndoc_to_target: z\n"
      "metric_list: [{metric: f1}]\n",
      "f1");
  expect_told("task: [", "task.yaml");
  expect_told(std::string(kPair) + "doc_to_target: other\n", "line 10: the key doc_to_target");
  expect_told(std::string(kPair) + "generation_kwargs:\n  until: [x]\n  until: [y]\n",
              "line 12: the key until stands twice");
}

}  // namespace task_file_test
}  // namespace mpitron::inference
