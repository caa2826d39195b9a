#pragma once
#include "tokenizers/core/tokenizer.h"

namespace mpitron::tokenizers {

/// Text is a list of decimal ids with spaces between them. With --vocab-size V the ids are 0 .. V -
/// 1 and eod is V.
class NullTokenizer : public Tokenizer {
 public:
  explicit NullTokenizer(Index vocab_size);

  std::string_view name() const override { return "NullTokenizer"; }
  TokenizerIdentity identity() const override;
  std::string fingerprint() const override;
  Index vocab_size() const override { return ids_ + 1; }
  TokenId eod() const override { return static_cast<TokenId>(ids_); }
  std::vector<std::filesystem::path> files() const override { return {}; }
  using Tokenizer::encode;
  void encode(std::string_view text, Cache& cache, TokenIds& ids) const override;
  std::string decode(std::span<const TokenId> ids) const override;

 private:
  Index ids_;
};

/// Makes one of --vocab-size ids; Error(usage) for less than 1 or what 32 bits do not hold.
std::unique_ptr<Tokenizer> make_null_tokenizer(const TokenizerOptions& options);

}  // namespace mpitron::tokenizers
