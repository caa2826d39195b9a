#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "tokenizers/chat/chat_format.h"

namespace mpitron::data {

using Conversation = std::vector<tokenizers::ChatMessage>;

/// A conversation as tokens; `targets[i]` is token i where it is to be learned, else kNotLearned.
struct EncodedConversation {
  static constexpr std::int64_t kNotLearned = -100;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> targets;
};
/// May be called from several threads.
using EncodeConversation = std::function<EncodedConversation(const Conversation&)>;

/// Which words of a conversation are learned.
enum class LearnedTurns { answers, last_answer, everything };

/// Of a conversation whose answers are learned.
void choose_targets(EncodedConversation& conversation, LearnedTurns turns);

}  // namespace mpitron::data
