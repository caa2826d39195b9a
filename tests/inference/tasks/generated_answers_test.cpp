#include "inference/tasks/generated_answers.h"

#include <gtest/gtest.h>

#include "support/fake_engine.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace generated_answers_test {

constexpr EngineShape kShape{.block_size = 4,
                             .blocks = 64,
                             .slots = 4,
                             .max_step_tokens = 32,
                             .max_positions = 24,
                             .vocabulary = 60,
                             .padded_vocabulary = 64};

TaskQuestion question_of(std::string context, std::string target) {
  return {.contexts = {std::move(context)},
          .continuations = {},
          .choices = {},
          .target = std::move(target)};
}

TEST(GeneratedAnswers, AreLikelyTextsThatEndInFrontOfAStop) {
  const tokenizers::NullTokenizer tokenizer(60);
  test::FakeEngine engine(kShape), again(kShape);
  EvaluationTask task;
  task.generates = true;
  task.max_tokens = 6;
  const GeneratedAnswers whole =
      generate_answers(engine, tokenizer, task, {question_of("3 4", "")});
  ASSERT_EQ(whole.answers.size(), 1u);
  const std::size_t blank = whole.answers[0].find(' ', 1);
  ASSERT_NE(blank, std::string::npos) << whole.answers[0];
  task.until = {whole.answers[0].substr(blank)};
  EXPECT_EQ(generate_answers(again, tokenizer, task, {question_of("3 4", "")}).answers.front(),
            whole.answers[0].substr(0, blank));
}

TEST(GeneratedAnswers, LongContextsLeaveRoomAndKeepTheirEnd) {
  const tokenizers::NullTokenizer tokenizer(60);
  test::FakeEngine engine(kShape), again(kShape);
  EvaluationTask task;
  task.max_tokens = 6;
  std::string end;
  for (int i = 0; i < 18; ++i) {  // 24 positions less an answer
    end += (i > 0 ? " " : "") + std::to_string(i);
  }
  const GeneratedAnswers cut =
      generate_answers(engine, tokenizer, task, {question_of("7 8 9 " + end, "")});
  EXPECT_EQ(cut.cut, 1);
  const GeneratedAnswers fits = generate_answers(again, tokenizer, task, {question_of(end, "")});
  EXPECT_EQ(fits.cut, 0);
  EXPECT_EQ(cut.answers, fits.answers);
}

TEST(GeneratedAnswers, AreComparedBehindTheFiltersOfTheTask) {
  EvaluationTask task;
  task.filters.emplace_back();
  const GenerationResult result =
      compare_answers(task, {question_of("1", "2"), question_of("3", "5")}, {{"2", "4"}, 1});
  ASSERT_EQ(result.correct.size(), 1u);
  EXPECT_EQ(result.correct[0], (std::vector<bool>{true, false}));
  EXPECT_EQ(result.cut, 1);
}

}  // namespace generated_answers_test
}  // namespace mpitron::inference
