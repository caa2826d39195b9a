#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpitron::corpus {

/// Fields to set in a record: a key and its new text.
using Changes = std::vector<std::pair<std::string_view, std::string_view>>;

/// One JSON object of a corpus, one parser per thread.
/// Keeps the parser's buffers from line to line, since lines are many and short.
class Record {
 public:
  /// Not copied: views of its fields would point into the other one.
  Record();
  ~Record();
  Record(Record&&) noexcept;
  Record& operator=(Record&&) = delete;

  /// Reads a line. Error(data) for anything that is no JSON object. The fields live until the next
  /// call.
  void parse(std::string_view line);
  /// Returns the text of a key; null where it is absent or no text.
  const std::string_view* text(std::string_view key);
  /// Returns the text of a key; Error(data) that names --text-key where it is absent or no text.
  std::string_view required_text(std::string_view key);
  /// Returns the object as one line of JSON, behind its opening brace, with these fields set: keys
  /// that it has stay where they are, new ones come last. Without changes the line as it was read.
  std::string tail_with(const Changes& changes) const;

 private:
  /// simdjson stays in the source file.
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mpitron::corpus
