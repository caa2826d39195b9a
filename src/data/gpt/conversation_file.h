#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/gpt/conversation_forms.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::data {

/// A conversation as tokens; `targets[i]` is token i where it is to be learned, else kNotLearned.
struct EncodedConversation {
  static constexpr std::int64_t kNotLearned = -100;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> targets;
};
/// Makes tokens of a conversation; may be called from several threads.
using EncodeConversation = std::function<EncodedConversation(const Conversation&)>;

/// Words of a conversation that are learned.
enum class LearnedTurns { answers, last_answer, everything };

/// Changes the targets of a conversation whose answers are learned to those that `turns` asks for.
void choose_targets(EncodedConversation& conversation, LearnedTurns turns);

/// JSONL of conversations, one a line, each in one of these forms:
///   {"messages": [{"role": "user", "content": ...}, ...]}
///   {"conversations": [{"from": "human", "value": ...}, ...]}    ShareGPT; human, gpt, system
///   {"prompt": ..., "completion": ...}
///   {"instruction": ..., "input": ..., "output": ...}            Alpaca; the input may be missing
/// Mapped; only the beginnings of lines are kept. Empty lines do not count. Reading from several
/// threads is safe.
class ConversationFile {
 public:
  /// Error(data) for a file that cannot be read or has no line.
  explicit ConversationFile(const std::string& path);

  const std::string& path() const { return path_; }
  Index size() const { return static_cast<Index>(lines_.size()); }
  /// Returns a conversation. Error(data) with line and byte for anything else.
  Conversation read(Index conversation) const;
  /// Returns a conversation as `encode` makes tokens of it; its errors get file and line. One of
  /// which nothing is learned, since it has no answer, is told of: the first, with file and line.
  EncodedConversation read_encoded(Index conversation, const EncodeConversation& encode) const;
  /// Returns the line as a pair (parse_pair); Error(data) with line and byte for anything else.
  AnswerPair read_pair(Index pair) const;
  /// Returns what `encode` makes of messages that the line of this number has given; as
  /// `read_encoded`.
  EncodedConversation encoded(Index conversation, const Conversation& messages,
                              const EncodeConversation& encode) const;

 private:
  template <class Row>
  Row parsed(Index row, std::string (*parse)(std::string_view, Row&), const char* forms) const;

  struct Line {
    Index begin = 0;  // byte
    Index bytes = 0;
    Index number = 0;  // in the file, from 1 on
  };

  std::string path_;
  MappedFile file_;
  std::vector<Line> lines_;
  mutable std::atomic<bool> told_ = false;  // of a conversation without answer
};

}  // namespace mpitron::data
