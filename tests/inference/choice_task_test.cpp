#include "inference/choice_task.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::inference {
namespace choice_task_test {

class ChoiceTaskTest : public ::testing::Test {
 protected:
  ChoiceTask task(const std::string& yaml) const {
    test::write_bytes(folder_ / "task.yaml", yaml);
    return ChoiceTask::read(folder_ / "task.yaml");
  }
  std::string problem(const std::string& yaml) const {
    return test::message_of([&] { task(yaml); });
  }
  static std::string problem(const ChoiceTask& task, const std::string& document) {
    return test::message_of([&] { make_question(task, document); });
  }

  test::TemporaryFolder folder_;
};

constexpr const char* kPair = R"(
task: pair
text: "Q: {{q}}?"
choices: ["{{a}}", "{{b}}"]
answer: "{{label}}"
)";
constexpr const char* kList = R"(
task: list
text: "{{stem.text}} {{options.1}}"
choices: "{{options}}"
labels: "{{names}}"
answer: "{{key}}"
delimiter: ""
)";

TEST_F(ChoiceTaskTest, FillsInFields) {
  const ChoiceQuestion question =
      make_question(task(kPair), R"({"q": "why", "a": "x", "b": "y", "label": 1})");
  EXPECT_EQ(question.text, "Q: why?");
  EXPECT_EQ(question.choices, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(question.answer, 1U);
  EXPECT_EQ(task(kPair).delimiter, " ");
}

TEST_F(ChoiceTaskTest, KnowsListsPartsAndLabels) {
  const ChoiceTask list = task(kList);
  const ChoiceQuestion question = make_question(
      list,
      R"({"stem": {"text": "s"}, "options": ["u", "v", "w"], "names": ["A", "B", "C"], "key": "C"})");
  EXPECT_EQ(question.text, "s v");
  EXPECT_EQ(question.choices, (std::vector<std::string>{"u", "v", "w"}));
  EXPECT_EQ(question.answer, 2U);
  EXPECT_EQ(list.delimiter, "");
}

TEST_F(ChoiceTaskTest, CleansHowTos) {
  const ChoiceQuestion question = make_question(
      task(std::string(kPair) + "clean: wikihow\n"),
      R"({"q": "x [title] y [step]  z ", "a": "[substeps] a", "b": "b", "label": 0})");
  // Of three blanks two are left, as in lm-evaluation-harness.
  EXPECT_EQ(question.text, "Q: x. y  z ?");
  EXPECT_EQ(question.choices.front(), "a");
}

TEST_F(ChoiceTaskTest, SaysWhatIsWrongWithATask) {
  EXPECT_NE(problem("task: x\ntext: y\nchoices: [a, b]\n").find("key answer is missing"),
            std::string::npos);
  EXPECT_NE(problem(std::string(kPair) + "metric: f1\n").find("unknown key metric"),
            std::string::npos);
  EXPECT_NE(problem("task: [").find("task.yaml"), std::string::npos);
  EXPECT_NE(problem(std::string(kPair) + "clean: all\n").find("known is wikihow"),
            std::string::npos);
}

TEST_F(ChoiceTaskTest, SaysWhatIsWrongWithADocument) {
  const ChoiceTask pair = task(kPair);
  EXPECT_NE(problem(pair, R"({"q": "w", "a": "x", "label": 0})").find("no field b"),
            std::string::npos);
  EXPECT_NE(problem(pair, R"({"q": "w", "a": "x", "b": "", "label": 0})").find("empty"),
            std::string::npos);
  EXPECT_NE(problem(pair, R"({"q": "w", "a": "x", "b": "x", "label": 0})").find("twice"),
            std::string::npos);
  EXPECT_NE(problem(pair, R"({"q": "w", "a": "x", "b": "y", "label": 2})").find("none of the 2"),
            std::string::npos);
  EXPECT_NE(problem(pair, "[]").find("no JSON object"), std::string::npos);
}

TEST_F(ChoiceTaskTest, TasksThatComeAlongAreRead) {
  int read = 0;
  for (const auto& file : std::filesystem::directory_iterator(MPITRON_SOURCE_DIR "/jobs/tasks")) {
    EXPECT_EQ(ChoiceTask::read(file.path()).name, file.path().stem());
    ++read;
  }
  EXPECT_GE(read, 5);
}

}  // namespace choice_task_test
}  // namespace mpitron::inference
