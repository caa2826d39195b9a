#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/tokens/token_file.h"
#include "utils/numbers/shape.h"

namespace mpitron::io {

/// Tokens into the bytes of a `.bin` file of that type; `out` has room for all of them. Error(data)
/// when a token does not fit the type.
void narrow_tokens(TokenType type, std::span<const std::int32_t> tokens, std::byte* out);
void narrow_tokens(TokenType type, std::span<const std::int64_t> tokens, std::byte* out);

/// Documents in the bytes of the file they go to: threads fill blocks at the same time, then one
/// thread appends them to a TokenFileWriter in order. A cleared block keeps its memory.
class TokenBlock {
 public:
  explicit TokenBlock(TokenType type) : type_(type) {}

  void clear();
  /// One document: its tokens, and how they divide into sequences (none: a document without one).
  /// Error(data) when a token does not fit the type.
  void add_document(std::span<const std::int32_t> tokens,
                    std::span<const std::int32_t> sequence_lengths);

  TokenType type() const { return type_; }
  std::span<const std::byte> bytes() const { return {bytes_.data(), used_}; }
  std::span<const std::int32_t> sequence_lengths() const { return lengths_; }
  /// [documents] the sequences of the block up to the end of each document.
  std::span<const std::int64_t> document_ends() const { return ends_; }
  /// Documents without a sequence.
  Index empty_document_count() const;
  Index token_count() const { return static_cast<Index>(used_ / size_of(type_)); }

 private:
  TokenType type_;
  std::vector<std::byte> bytes_;  // grows only; `used_` of them hold tokens
  std::size_t used_ = 0;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> ends_;
};

}  // namespace mpitron::io
