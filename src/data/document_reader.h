#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "utils/shape.h"

namespace mpitron::data {

/// Where a plain-text (`.txt`) input is cut into documents.
enum class TextDocuments {
  paragraphs,  ///< at blank lines
  lines,       ///< every line that is not blank
  file,        ///< nowhere
};

/// One raw document: a line of a JSONL file or a piece of plain text. `text` ends before its line
/// feed.
struct RawDocument {
  std::string_view text;
  Index line = 0;    // of its first byte, counted from 1
  Index offset = 0;  // of its first byte in the file
};

/// A run of whole documents of one file, in the file's order.
struct DocumentBatch {
  Index number = 0;  // batches of all files, from 0
  const std::string* file = nullptr;
  bool json = false;
  Index file_bytes = 0;   // read for this batch, blank lines included
  Index blank_lines = 0;  // skipped (JSONL only)
  std::string storage;    // file_bytes of documents, then at least JsonTextParser::kPadding more
  std::vector<RawDocument> documents;
};

/// Cuts input files into batches of about `batch_bytes` (a longer document is a batch of its own).
/// Files that end in `.txt` are plain text, all others JSONL. Memory: one block and the longest
/// document.
class DocumentReader {
 public:
  /// Error(data) when a file is missing, unreadable, a folder, or compressed. `stop` is asked while
  /// a pipe has nothing to read, or nobody at its other end yet: true ends the input there.
  DocumentReader(std::vector<std::string> files, TextDocuments text_documents,
                 std::size_t batch_bytes = std::size_t{1} << 18, std::function<bool()> stop = {});
  ~DocumentReader();

  /// Fills the next batch, reusing its storage; false at the end of the last file. Error(data) when
  /// reading fails.
  bool next(DocumentBatch& batch);

  /// Bytes of all inputs, or 0 where one of them is a pipe.
  Index total_bytes() const { return total_bytes_; }

 private:
  class Input;

  void cut(DocumentBatch& batch);

  std::vector<std::string> files_;
  TextDocuments text_documents_;
  std::size_t batch_bytes_;
  std::function<bool()> stop_;
  Index total_bytes_ = 0;
  std::size_t file_ = 0;
  std::unique_ptr<Input> input_;
  Index batches_ = 0;
  Index line_ = 1;
  Index offset_ = 0;
};

}  // namespace mpitron::data
