#include "tokenizers/tokenizer.h"

#include "tokenizers/byte_pair_encoding.h"
#include "tokenizers/null_tokenizer.h"
#include "utils/error.h"

namespace mpitron::tokenizers {

TokenIds Tokenizer::encode(std::string_view text) const {
  TokenIds ids;
  encode(text, *make_cache(), ids);
  return ids;
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options) {
  if (options.type == "GPT2BPETokenizer") {
    if (options.vocab_file.empty() || options.merge_file.empty()) {
      throw_usage(
          "--tokenizer-type GPT2BPETokenizer needs --vocab-file vocab.json and --merge-file "
          "merges.txt; {} is "
          "missing",
          options.vocab_file.empty() ? "--vocab-file" : "--merge-file");
    }
    return std::make_unique<BytePairEncoding>(options.vocab_file, options.merge_file);
  }
  if (options.type == "NullTokenizer") {
    return std::make_unique<NullTokenizer>(options.vocab_size);
  }
  throw_usage("--tokenizer-type {}: supported are GPT2BPETokenizer and NullTokenizer",
              options.type);
}

void check_token_id(TokenId id, Index vocab_size) {
  if (id < 0 || id >= vocab_size) {
    throw_data("token id {} is outside the vocabulary (0 to {})", id, vocab_size - 1);
  }
}

}  // namespace mpitron::tokenizers
