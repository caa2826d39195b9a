#include "data/gpt/conversation_file.h"

#include <algorithm>

#include "utils/check.h"
#include "utils/error.h"
#include "utils/log.h"

// Conversations of a JSONL file, line by line and mapped, with errors that tell file, line and
// byte; parsing itself is in conversation_forms.cpp.

namespace mpitron::data {
namespace {

bool is_learned(std::int64_t target) {
  return target != EncodedConversation::kNotLearned;
}

}  // namespace

ConversationFile::ConversationFile(const std::string& path) : path_(path), file_(path) {
  const std::string_view text = file_.text();
  Index number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") != line.npos) {
      lines_.push_back({static_cast<Index>(begin), static_cast<Index>(line.size()), number});
    }
    begin = end + 1;
  }
  if (lines_.empty()) {
    throw_data("{}: no conversation in the file; {}", path, kConversationForms);
  }
}

/// Parses a line by one of the two forms; the line's bytes are read again each time, and nothing
/// but its place is kept.
template <class Row>
Row ConversationFile::parsed(Index row, std::string (*parse)(std::string_view, Row&),
                             const char* forms) const {
  MPITRON_CHECK(row >= 0 && row < size(), row, size());
  const Line& line = lines_[static_cast<std::size_t>(row)];
  Row result;
  const std::string problem = parse(file_.text().substr(static_cast<std::size_t>(line.begin),
                                                        static_cast<std::size_t>(line.bytes)),
                                    result);
  if (!problem.empty()) {
    throw_data("{}: line {} (byte {}): {}; {}", path_, line.number, line.begin, problem, forms);
  }
  return result;
}

Conversation ConversationFile::read(Index conversation) const {
  return parsed<Conversation>(conversation, parse_conversation, kConversationForms);
}

AnswerPair ConversationFile::read_pair(Index pair) const {
  return parsed<AnswerPair>(pair, parse_pair, kPairForms);
}

EncodedConversation ConversationFile::read_encoded(Index conversation,
                                                   const EncodeConversation& encode) const {
  return encoded(conversation, read(conversation), encode);
}

EncodedConversation ConversationFile::encoded(Index conversation, const Conversation& messages,
                                              const EncodeConversation& encode) const {
  const Index line = lines_[static_cast<std::size_t>(conversation)].number;
  try {
    EncodedConversation result = encode(messages);
    const bool learns = std::ranges::any_of(result.targets, is_learned);
    // Told once: a whole file may be of this kind.
    if (!learns && !told_.exchange(true)) {
      log::warning(
          "{}: line {}: has no answer, so nothing of it is learned; others like it are not told",
          path_, line);
    }
    return result;
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: line {}: {}", path_, line, error.what()));
  }
}

/// The last answer is the last run of learned tokens.
void choose_targets(EncodedConversation& conversation, LearnedTurns turns) {
  std::vector<std::int64_t>& targets = conversation.targets;
  if (turns == LearnedTurns::everything) {
    targets = conversation.tokens;
  }
  if (turns == LearnedTurns::last_answer) {
    const auto end = std::find_if(targets.rbegin(), targets.rend(), is_learned);
    const auto begin = std::find_if_not(end, targets.rend(), is_learned);
    std::fill(begin, targets.rend(), EncodedConversation::kNotLearned);
  }
}

}  // namespace mpitron::data
