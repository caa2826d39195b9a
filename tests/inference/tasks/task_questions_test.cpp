#include "inference/tasks/task_questions.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::inference {
namespace task_questions_test {

using Texts = std::vector<std::string>;

class TaskQuestionsTest : public ::testing::Test {
 protected:
  std::vector<TaskQuestion> questions(const std::string& name, const std::string& lines,
                                      const TaskExamples& examples = {}) const {
    test::write_bytes(folder_ / "data.jsonl", lines);
    const auto task = EvaluationTask::read(MPITRON_SOURCE_DIR "/jobs/tasks/" + name + ".yaml");
    return make_questions(task, folder_ / "data.jsonl", examples);
  }
  std::string problem(const std::string& name, const std::string& lines,
                      const TaskExamples& examples = {}) const {
    return test::message_of([&] { questions(name, lines, examples); });
  }
  const test::TemporaryFolder folder_;
};

constexpr const char* kPiqa =
    R"({"goal": "open a jar", "sol1": "turn it", "sol2": "wait", "label": 0}
{"goal": "boil water", "sol1": "cool it", "sol2": "heat it", "label": 1}
)";

TEST_F(TaskQuestionsTest, ChoicesStandBehindTheText) {
  const auto piqa = questions("piqa", kPiqa);
  ASSERT_EQ(piqa.size(), 2U);
  EXPECT_EQ(piqa[0].contexts, Texts{"Question: open a jar\nAnswer:"});
  EXPECT_EQ(piqa[0].continuations, (Texts{" turn it", " wait"}));
  EXPECT_EQ(piqa[1].answer, 1U);
  const auto arc =
      questions("arc", R"({"question": "q", "choices": {"text": ["u", "v"], "label": ["A", "B"]}, )"
                       R"("answerKey": "B"})");
  EXPECT_EQ(arc[0].answer, 1U);
  EXPECT_EQ(arc[0].choices, (Texts{"u", "v"}));
}

TEST_F(TaskQuestionsTest, ChoicesMayStandInFront) {
  const auto questions_of = questions(
      "winogrande", R"({"sentence": "The cat saw the dog, and _ ran off.", "option1": "the cat", )"
                    R"("option2": "the dog", "answer": "2"})");
  EXPECT_EQ(questions_of[0].contexts,
            (Texts{"The cat saw the dog, and the cat", "The cat saw the dog, and the dog"}));
  EXPECT_EQ(questions_of[0].continuations, (Texts{" ran off.", " ran off."}));
  EXPECT_EQ(questions_of[0].answer, 1U);
}

TEST_F(TaskQuestionsTest, TextsOfWikiHowAreCleaned) {
  const auto hellaswag = questions(
      "hellaswag", R"({"activity_label": "Cooking", "ctx_a": "A man [title] cooks.", "ctx_b": )"
                   R"("he STIRS", "endings": ["[substeps] it", "not  it"], "label": "0"})");
  EXPECT_EQ(hellaswag[0].contexts, Texts{"Cooking: A man. cooks. He stirs"});
  EXPECT_EQ(hellaswag[0].choices, (Texts{" it", "not it"}));
}

TEST_F(TaskQuestionsTest, ExamplesStandInFront) {
  test::write_bytes(folder_ / "shots.jsonl",
                    R"({"goal": "g", "sol1": "a", "sol2": "b", "label": 1})"
                    "\n");
  const auto piqa = questions("piqa", kPiqa, {.count = 1, .path = folder_ / "shots.jsonl"});
  EXPECT_EQ(piqa[0].contexts, Texts{"Question: g\nAnswer: b\n\nQuestion: open a jar\nAnswer:"});
  // Of its own file never the question itself.
  const auto own = questions("piqa", kPiqa, {.count = 1});
  EXPECT_EQ(own[0].contexts,
            Texts{"Question: boil water\nAnswer: heat it\n\nQuestion: open a jar\nAnswer:"});
  EXPECT_NE(problem("piqa", kPiqa, {.count = 2}).find("2 examples are wanted"), std::string::npos);
}

TEST_F(TaskQuestionsTest, GeneratedAnswersHaveATarget) {
  const auto gsm = questions("gsm8k", R"({"question": "1+1?", "answer": "It is\n#### 2"})");
  EXPECT_EQ(gsm[0].contexts, Texts{"Question: 1+1?\nAnswer:"});
  EXPECT_EQ(gsm[0].target, "It is\n#### 2");
  EXPECT_TRUE(gsm[0].continuations.empty());
}

TEST_F(TaskQuestionsTest, SaysWhatIsWrongWithADocument) {
  const auto expect_told = [&](const std::string& line, const std::string& part) {
    EXPECT_NE(problem("piqa", line).find(part), std::string::npos) << problem("piqa", line);
  };
  expect_told(R"({"goal": "g", "sol1": "a", "label": 0})", "data.jsonl:1: ");
  expect_told(R"({"goal": "g", "sol1": "a", "label": 0})", "sol2");
  expect_told(R"({"goal": "g", "sol1": "a", "sol2": "", "label": 0})", "a choice is empty");
  expect_told(R"({"goal": "g", "sol1": "a", "sol2": "a", "label": 0})", "twice");
  expect_told(R"({"goal": "g", "sol1": "a", "sol2": "b", "label": 2})", "none of the 2 choices");
  expect_told("\n[]", "data.jsonl:2: ");
  expect_told("", "no documents");
}

TEST_F(TaskQuestionsTest, TellsOfChoicesThatBeginAnother) {
  ::testing::internal::CaptureStderr();
  questions("piqa", std::string(kPiqa) +
                        R"({"goal": "g", "sol1": "wait a bit", "sol2": "wait", "label": 0})");
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("data.jsonl:3: a choice begins another one"), std::string::npos) << told;
  EXPECT_NE(told.find("(1 of 3 questions)"), std::string::npos) << told;
}

}  // namespace task_questions_test
}  // namespace mpitron::inference
