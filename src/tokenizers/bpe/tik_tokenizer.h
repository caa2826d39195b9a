#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tokenizers/bpe/bpe_model.h"
#include "tokenizers/bpe/byte_pair_encoding.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::tokenizers {

/// Byte-level BPE from a tiktoken vocabulary (--tokenizer-model). With --tiktoken-pattern v1 or v2
/// it is Megatron's CustomTikTokenizer: special tokens come first, ids of the others are rank +
/// --tiktoken-num-special-tokens, and --vocab-size (2^17) counts both. With gpt2, cl100k, o200k or
/// llama3, ids are the ranks and the special tokens that these vocabularies are published with
/// follow.
class TikTokenizer : public BytePairEncoding {
 public:
  TikTokenizer(BpeModel model, TokenizerIdentity identity)
      : BytePairEncoding(std::move(model)), identity_(std::move(identity)) {}

  std::string_view name() const override { return "TikTokenizer"; }
  TokenizerIdentity identity() const override { return identity_; }

 private:
  TokenizerIdentity identity_;
};

/// Makes the tokenizer of --tiktoken-pattern. Error(usage) for missing or contradicting options,
/// Error(data) for a file that does not fit.
std::unique_ptr<Tokenizer> make_tik_tokenizer(const TokenizerOptions& options);

/// Returns the bytes of a tiktoken vocabulary's tokens by rank. The file is a `.json` list of
/// {"rank", "token_bytes" (base64), "token_str"}, as Megatron reads it (whose first 256 are the
/// bytes in order), or lines of base64 and rank. Only the first `most` tokens count. Error(data),
/// naming the file and the entry or line, for anything else, and where a token or a byte appears
/// not just once.
std::vector<std::string> load_tiktoken_ranks(const std::filesystem::path& file, Index most);

/// Turns ranks into merges. Such a vocabulary has no list of merges: its algorithm joins those two
/// neighbours whose bytes together are the token of the lowest rank. By that rule every token is
/// made from the same two parts wherever it is made, so one merge for each token says the same. Ids
/// are rank + first_id; `eod` and special tokens are left to the caller.
BpeModel bpe_model_of_ranks(const std::vector<std::string>& ranks, TokenId first_id);

}  // namespace mpitron::tokenizers
