#include "inference/tasks/choice_accuracy.h"

#include <gtest/gtest.h>

#include "tokenizers/make_tokenizer.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace choice_accuracy_test {

class ChoiceAccuracyTest : public ::testing::Test {
 protected:
  /// A model that finds a token as unlikely as its number.
  static WindowScorer scorer() {
    return {{.longest = 8, .batch_size = 3, .length_step = 4},
            [](const TokenBatch& batch, TokenScores& scores) {
              EXPECT_EQ(batch.length % 4, 0);
              for (std::size_t i = 0; i < batch.labels.size(); ++i) {
                scores.losses[i] = static_cast<double>(batch.labels[i]);
                scores.misses[i] = batch.labels[i] == 1 ? 0 : 1;
              }
            }};
  }
  static TaskQuestion question(const std::vector<std::string>& choices, std::size_t answer) {
    TaskQuestion result{.contexts = {"9 9"}, .choices = choices, .answer = answer};
    for (const std::string& choice : choices) {
      result.continuations.push_back(" " + choice);
    }
    return result;
  }
  const std::unique_ptr<tokenizers::Tokenizer> tokenizer_ =
      tokenizers::make_tokenizer({.type = "NullTokenizer", .vocab_size = 20});
};

TEST_F(ChoiceAccuracyTest, TheLikeliestChoiceByBothMeasures) {
  // Sums 5 and 6; by length 5 and 2.
  const ChoiceResult result = choice_accuracy(
      scorer(), *tokenizer_, {question({"5", "2 4"}, 0), question({"3", "3"}, 1)}, 8);
  EXPECT_EQ(result.correct, (std::vector<bool>{true, false}));  // the first among equals
  EXPECT_EQ(result.correct_by_length, (std::vector<bool>{false, false}));
  EXPECT_EQ(result.cut, 0);
}

/// A choice that begins as another one is told by its own tokens alone.
TEST_F(ChoiceAccuracyTest, ChoicesMayBePrefixesOfEachOther) {
  const ChoiceResult result =
      choice_accuracy(scorer(), *tokenizer_, {question({"2 4 1", "2 4"}, 1)}, 8);
  EXPECT_EQ(result.correct, std::vector<bool>{true});  // 7 against 6
}

TEST_F(ChoiceAccuracyTest, LongTextsKeepTheirEnd) {
  TaskQuestion own = question({"1", "2"}, 0);
  own.contexts = {"9 9 9 9 9 9 9 9 9 9 9"};
  const ChoiceResult result = choice_accuracy(scorer(), *tokenizer_, {own}, 8);
  EXPECT_EQ(result.cut, 2);
  EXPECT_EQ(result.correct, std::vector<bool>{true});
}

TEST_F(ChoiceAccuracyTest, BlanksBelongToTheText) {
  const TextWindow window = continuation_window(*tokenizer_, "7 8  ", "9");
  EXPECT_EQ(window.tokens, (tokenizers::TokenIds{7, 8, 9}));
  EXPECT_EQ(window.first_scored, 2U);
  const TextWindow alone = continuation_window(*tokenizer_, "", "9");
  EXPECT_EQ(alone.tokens, (tokenizers::TokenIds{20, 9}));  // behind the end of another text
  EXPECT_THROW(continuation_window(*tokenizer_, "7", " "), Error);
}

TEST(StandardError, IsThatOfTheMean) {
  EXPECT_DOUBLE_EQ(share({true, false, false, true}), 0.5);
  EXPECT_DOUBLE_EQ(standard_error({true, false, false, true}), std::sqrt(0.25 / 3));
  EXPECT_EQ(standard_error({true}), 0);
}

}  // namespace choice_accuracy_test
}  // namespace mpitron::inference
