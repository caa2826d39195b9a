#include "tokenizers/core/tokenizer.h"

#include "utils/error.h"

namespace mpitron::tokenizers {

TokenIds Tokenizer::encode(std::string_view text) const {
  TokenIds ids;
  encode(text, *make_cache(), ids);
  return ids;
}

void check_token_id(TokenId id, Index vocab_size) {
  if (id < 0 || id >= vocab_size) {
    throw_data("token id {} is outside the vocabulary (0 to {})", id, vocab_size - 1);
  }
}

void check_piece_length(std::size_t bytes) {
  constexpr std::size_t kLongest = std::size_t{16} << 20;
  if (bytes > kLongest) {
    throw_data("{} bytes without a break: a word has at most {} MiB", bytes, kLongest >> 20);
  }
}

}  // namespace mpitron::tokenizers
