#pragma once
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

/// Error(usage) for missing or contradicting options, Error(data) for a file that does not fit.
std::unique_ptr<Tokenizer> make_tik_tokenizer(const TokenizerOptions& options);

}  // namespace mpitron::tokenizers
