#include "tokenizers/core/tokenizer.h"

#include <algorithm>
#include <array>

#include "utils/error.h"

// What tokenizers have in common: calls without a cache, special ids, the text of single ids, and
// limits.

namespace mpitron::tokenizers {

TokenIds Tokenizer::encode(std::string_view text) const {
  TokenIds ids;
  encode(text, *make_cache(), ids);
  return ids;
}

TokenIds Tokenizer::encode_part(std::string_view text) const {
  TokenIds ids;
  encode_part(text, *make_cache(), ids);
  return ids;
}

bool Tokenizer::is_special(TokenId id) const {
  const SpecialIds ids = special_ids();
  return id == eod() || id == ids.bos || id == ids.eos || id == ids.pad || id == ids.cls ||
         id == ids.sep || id == ids.mask ||
         std::ranges::find(ids.sentinels, id) != ids.sentinels.end();
}

/// Decodes the id behind itself: the first id of a text may lose a blank, or gain none.
std::string Tokenizer::bytes_of(TokenId id) const {
  if (is_special(id)) {
    return "";
  }
  const std::string once = decode(std::array{id}), twice = decode(std::array{id, id});
  return twice.starts_with(once) ? twice.substr(once.size()) : once;
}

void check_token_id(TokenId id, Index vocab_size) {
  if (id < 0 || id >= vocab_size) {
    throw_data("token id {} is outside the vocabulary (0 to {})", id, vocab_size - 1);
  }
}

/// Bounds the memory of a merge, which is many times the bytes of its piece.
void check_piece_length(std::size_t bytes) {
  constexpr std::size_t kLongest = std::size_t{16} << 20;
  if (bytes > kLongest) {
    throw_data("{} bytes without a break: a word has at most {} MiB", bytes, kLongest >> 20);
  }
}

}  // namespace mpitron::tokenizers
