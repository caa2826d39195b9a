#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/tokens/token_block.h"
#include "io/tokens/token_file.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::io {

enum class Modes : bool { absent, present };  ///< `present`: one int8 per sequence (multimodal)

/// Writes a corpus byte for byte as Megatron does. Nothing appears under the final names before
/// `commit`, which brings both files to the disk (a full one leaves neither of them, and an earlier
/// corpus of this name as it was), then puts `.bin` in place first, so that a crash leaves no
/// `.idx` that looks complete.
/// Keeps 4 bytes of memory per sequence and 8 per document.
class TokenFileWriter {
 public:
  TokenFileWriter(const std::string& prefix, TokenType type, Modes modes = Modes::absent);

  /// Error(data) when a token does not fit the type.
  void add_sequence(std::span<const std::int32_t> tokens, int mode = 0);
  void add_sequence(std::span<const std::int64_t> tokens, int mode = 0);
  void end_document();
  /// One document: its tokens, and how they divide into sequences.
  void add_document(std::span<const std::int32_t> tokens,
                    std::span<const std::int32_t> sequence_lengths);
  /// Appends a block of the same type; its tokens are written as they lie there.
  void append(const TokenBlock& block);
  /// Appends another corpus of the same type (merging of parts).
  void append(const TokenFile& part);
  void commit();

  Index sequence_count() const { return static_cast<Index>(lengths_.size()); }
  Index document_count() const { return static_cast<Index>(documents_.size()) - 1; }

 private:
  template <class T>
  void add_tokens(std::span<const T> tokens, int mode);
  void add_entry(Index length, int mode);

  std::string prefix_;
  TokenType type_;
  Modes modes_;
  AtomicFile bin_;
  std::vector<std::byte> scratch_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> documents_{0};
  std::vector<std::int8_t> mode_of_sequence_;
};

}  // namespace mpitron::io
