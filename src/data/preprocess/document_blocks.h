#pragma once
#include <algorithm>
#include <cstring>

#include <unistd.h>

#include "data/preprocess/document_reader.h"
#include "data/preprocess/json_text.h"
#include "io/compressed/byte_source.h"
#include "utils/error.h"

namespace mpitron::data {

/// One open file that hands out blocks ending at a document boundary.
class DocumentBlocks {
 public:
  DocumentBlocks(const std::string& file, Index offset, const std::function<bool()>& stop)
      : file_(file), source_(io::open_source(file, stop)) {
    source_->skip(offset);
  }

  /// Puts whole documents at the front of `block` and returns their bytes: about `bytes`, or more
  /// until `end_of_documents` finds an end in them; 0 at the end of the file. The block only grows,
  /// so that it is not filled with zeros before each read. `line`: of its first document.
  std::size_t next(std::string& block, std::size_t bytes, EndOfDocuments end_of_documents,
                   Index line) {
    std::size_t filled = rest_.size();
    reserve(block, filled);
    rest_.copy(block.data(), filled);
    rest_.clear();
    for (std::size_t searched = 0; !ended_; searched = filled) {
      /// Twice as much each time: a long document is searched and copied in proportion to its
      /// length.
      filled += read_some(block, filled, std::max(bytes, 2 * filled));
      if (ended_) {
        break;
      }
      if (const std::size_t cut = end_of_documents({block.data(), filled}, searched); cut > 0) {
        rest_.assign(block, cut, filled - cut);
        return cut;
      }
      if (filled > kLongestDocument) {
        throw_data(
            "{}:{}: no document ends within {} MiB; a document is a line of JSON, or a paragraph, "
            "line or file of plain text",
            file_, line, kLongestDocument >> 20);
      }
    }
    return filled;
  }

 private:
  /// The longest document: longer ones are no documents but another kind of file, and reading on
  /// would take all memory.
  static constexpr std::size_t kLongestDocument = std::size_t{128} << 20;

  static void reserve(std::string& block, std::size_t bytes) {
    block.resize(std::max(block.size(), bytes + JsonTextParser::kPadding));
  }

  // One successful read behind `filled` bytes, up to `size` of them together: a pipe's block holds
  // what has come so far.
  std::size_t read_some(std::string& block, std::size_t filled, std::size_t size) {
    size = std::max(size, filled + 1);
    reserve(block, size);
    const std::size_t n = source_->read(block.data() + filled, size - filled);
    ended_ = n == 0;
    return n;
  }

  const std::string& file_;
  std::unique_ptr<io::ByteSource> source_;
  bool ended_ = false;
  std::string rest_;
};

}  // namespace mpitron::data
