#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/tokens/token_block.h"
#include "io/tokens/token_file.h"
#include "utils/numbers/shape.h"

namespace mpitron::io {

class GrowingFile;

/// How far a corpus has been written.
struct TokenExtent {
  Index tokens = 0;
  Index sequences = 0;
  Index documents = 0;
  bool operator==(const TokenExtent&) const = default;
};

/// A corpus that is being written and outlives a kill: what is to become `prefix.bin` and
/// `prefix.idx` grows in `prefix.bin.part`, `prefix.lengths.part` and `prefix.documents.part`. Who
/// keeps the extent of a `sync` can go on from there. Memory does not grow with the corpus. The
/// result is that of TokenFileWriter, byte for byte.
class TokenFileParts {
 public:
  /// Goes on behind `extent`, dropping what lies beyond it; TokenExtent{} begins anew. Error(data)
  /// where the parts hold less. The caller sees to it that nobody else writes this corpus.
  TokenFileParts(const std::string& prefix, TokenType type, const TokenExtent& extent = {});
  ~TokenFileParts();
  TokenFileParts(TokenFileParts&&) noexcept;
  TokenFileParts& operator=(TokenFileParts&&) = delete;

  /// True where there are parts of at least this extent.
  static bool exist(const std::string& prefix, TokenType type, const TokenExtent& extent);

  void append(const TokenBlock& block);
  /// A whole corpus of the same type (merging).
  void append(const TokenFile& corpus);
  /// What other parts of the same type hold; they stay as they are.
  void append(TokenFileParts& other);

  const TokenExtent& extent() const { return extent_; }
  /// Brings everything to the disk.
  void sync();
  /// Makes the two files of the parts: `.bin` in place first, so that a crash leaves no `.idx` that
  /// looks complete. Nothing may follow.
  void commit();
  /// Deletes the parts.
  void discard();

 private:
  std::string prefix_;
  TokenType type_;
  TokenExtent extent_;
  std::unique_ptr<GrowingFile> bin_;
  std::unique_ptr<GrowingFile> lengths_;    // int32 per sequence
  std::unique_ptr<GrowingFile> documents_;  // int64 per document: sequences up to its end
};

}  // namespace mpitron::io
