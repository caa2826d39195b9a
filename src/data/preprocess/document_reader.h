#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Places where a plain-text (`.txt`) input is cut into documents.
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

/// A place between two documents, from which reading can go on.
struct InputPosition {
  Index file = 0;       // of the reader's files
  Index offset = 0;     // bytes of its (decompressed) content
  Index line = 1;       // at the offset
  Index documents = 0;  // before it, of all files
};

/// A run of whole documents of one file, in the file's order.
struct DocumentBatch {
  Index number = 0;          // batches of all files, from 0
  Index first_document = 0;  // its number among the documents of all files
  InputPosition end;         // behind its last document
  const std::string* file = nullptr;
  bool json = false;
  Index file_bytes = 0;   // read for this batch, blank lines included
  Index blank_lines = 0;  // skipped (JSONL only)
  std::string storage;    // file_bytes of documents, then at least JsonTextParser::kPadding more
  std::vector<RawDocument> documents;

  /// Returns "FILE:LINE: document at byte OFFSET: why", of one of them that cannot be used.
  std::string complaint(const RawDocument& document, std::string_view why) const;
};

/// Returns whether the file is plain text: `.txt`, `.txt.gz` and `.txt.zst`; everything else is
/// JSONL.
bool names_plain_text(const std::string& file);

class DocumentBlocks;

/// Returns where the last whole document of a block ends, of which `searched` bytes were looked at
/// in vain before; 0 where none does.
using EndOfDocuments = std::size_t (*)(std::string_view block, std::size_t searched);

/// Cuts input files into batches of about `batch_bytes` (a longer document is a batch of its own).
/// gzip and zstd data are read directly; "-" is standard input (JSONL). Memory: one block and the
/// longest document (at most 128 MiB), and for a compressed file its window.
class DocumentReader {
 public:
  /// Looks at the files. Error(data) when one is missing, unreadable or a folder. `stop` is asked
  /// while a pipe has nothing to read, or nobody at its other end yet: true ends the input there.
  DocumentReader(std::vector<std::string> files, TextDocuments text_documents,
                 std::size_t batch_bytes = std::size_t{1} << 18, std::function<bool()> stop = {});
  ~DocumentReader();

  /// Fills the next batch, reusing its storage; false at the end of the last file. Error(data) when
  /// reading fails, or where a document is too long.
  bool next(DocumentBatch& batch);

  /// Goes on from a place that a batch of the same files named. To be called before the first
  /// `next` only.
  void start_at(const InputPosition& position);

  /// Returns the bytes of all inputs, or 0 where one of them is a pipe or compressed.
  Index total_bytes() const { return total_bytes_; }

 private:
  EndOfDocuments end_of_documents(bool json) const;
  void cut(DocumentBatch& batch);

  std::vector<std::string> files_;
  TextDocuments text_documents_;
  std::size_t batch_bytes_;
  std::function<bool()> stop_;
  Index total_bytes_ = 0;
  InputPosition at_;
  std::unique_ptr<DocumentBlocks> input_;
  Index batches_ = 0;
};

}  // namespace mpitron::data
