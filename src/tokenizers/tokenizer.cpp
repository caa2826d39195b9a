#include "tokenizers/tokenizer.h"

#include <array>

#include "tokenizers/byte_pair_encoding.h"
#include "tokenizers/null_tokenizer.h"
#include "tokenizers/tik_tokenizer.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace {

struct Family {
  std::string_view type;  // the value of --tokenizer-type
  std::unique_ptr<Tokenizer> (*make)(const TokenizerOptions&);
};

// One line for each type.
constexpr Family kFamilies[] = {
    {"GPT2BPETokenizer", make_gpt2_tokenizer},
    {"NullTokenizer", make_null_tokenizer},
    {"TikTokenizer", make_tik_tokenizer},
};

}  // namespace

TokenIds Tokenizer::encode(std::string_view text) const {
  TokenIds ids;
  encode(text, *make_cache(), ids);
  return ids;
}

std::string tokenizer_types() {
  std::string types;
  for (const Family& family : kFamilies)
    types += fmt::format("{}{}", types.empty() ? "" : ", ", family.type);
  return types;
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options) {
  for (const Family& family : kFamilies) {
    if (options.type == family.type) {
      return family.make(options);
    }
  }
  throw_usage("--tokenizer-type {}: allowed are {}", options.type, tokenizer_types());
}

void check_token_id(TokenId id, Index vocab_size) {
  if (id < 0 || id >= vocab_size) {
    throw_data("token id {} is outside the vocabulary (0 to {})", id, vocab_size - 1);
  }
}

}  // namespace mpitron::tokenizers
