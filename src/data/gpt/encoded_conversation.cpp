#include "data/gpt/encoded_conversation.h"

#include <algorithm>

namespace mpitron::data {

void choose_targets(EncodedConversation& conversation, LearnedTurns turns) {
  std::vector<std::int64_t>& targets = conversation.targets;
  if (turns == LearnedTurns::everything) {
    targets = conversation.tokens;
  }
  if (turns == LearnedTurns::last_answer) {
    const auto learned = [](std::int64_t target) {
      return target != EncodedConversation::kNotLearned;
    };
    const auto end = std::find_if(targets.rbegin(), targets.rend(), learned);
    const auto begin = std::find_if_not(end, targets.rend(), learned);
    std::fill(begin, targets.rend(), EncodedConversation::kNotLearned);
  }
}

}  // namespace mpitron::data
