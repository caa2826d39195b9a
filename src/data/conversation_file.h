#pragma once
#include <string>
#include <vector>

#include "tokenizers/chat_format.h"
#include "utils/files.h"
#include "utils/shape.h"

namespace mpitron::data {

using Conversation = std::vector<tokenizers::ChatMessage>;

/// JSONL of conversations, one a line: {"messages": [{"role": ..., "content": ...}, ...]}. Mapped;
/// only the beginnings of lines are kept. Empty lines do not count. Reading from several threads is
/// safe.
class ConversationFile {
 public:
  /// Error(data) for a file that cannot be read or has no line.
  explicit ConversationFile(const std::string& path);

  const std::string& path() const { return path_; }
  Index size() const { return static_cast<Index>(lines_.size()); }
  /// Error(data) with line and byte for anything else than a conversation.
  Conversation read(Index conversation) const;

 private:
  struct Line {
    Index begin = 0;  // byte
    Index bytes = 0;
    Index number = 0;  // in the file, from 1 on
  };

  std::string path_;
  MappedFile file_;
  std::vector<Line> lines_;
};

}  // namespace mpitron::data
