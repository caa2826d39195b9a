#include "data/gpt/encoded_conversation.h"

#include <gtest/gtest.h>

namespace mpitron::data {
namespace encoded_conversation_test {

constexpr std::int64_t kNo = EncodedConversation::kNotLearned;
using Targets = std::vector<std::int64_t>;

Targets chosen(LearnedTurns turns, Targets targets) {
  EncodedConversation conversation{{1, 2, 3, 4, 5, 6}, std::move(targets)};
  choose_targets(conversation, turns);
  return conversation.targets;
}

TEST(EncodedConversation, ChoosesWhatIsLearned) {
  const Targets two_answers{kNo, 2, kNo, 4, 5, kNo};
  EXPECT_EQ(chosen(LearnedTurns::answers, two_answers), two_answers);
  EXPECT_EQ(chosen(LearnedTurns::last_answer, two_answers), (Targets{kNo, kNo, kNo, 4, 5, kNo}));
  EXPECT_EQ(chosen(LearnedTurns::everything, two_answers), (Targets{1, 2, 3, 4, 5, 6}));
}

TEST(EncodedConversation, WithoutAnswersNothingIsLearned) {
  const Targets none(6, kNo);
  EXPECT_EQ(chosen(LearnedTurns::last_answer, none), none);
}

}  // namespace encoded_conversation_test
}  // namespace mpitron::data
