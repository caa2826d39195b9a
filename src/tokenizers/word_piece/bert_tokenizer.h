#pragma once
#include <unordered_map>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/word_piece/word_piece.h"

namespace mpitron::tokenizers {

/// BertWordPieceLowerCase and BertWordPieceCase: BERT's words, cut into pieces of the vocabulary
/// (one token a line). [BOS], [EOS] and <extra_id_i> are added behind it where it lacks them; eod
/// is [EOS]. Source: Megatron's _BertWordPieceTokenizer.
class BertTokenizer : public Tokenizer {
 public:
  struct Options {
    bool lower_case = true;
    Index extra_ids = 0;
  };

  /// Error(data), naming file and line, for a vocabulary without [UNK], [CLS], [SEP], [PAD] or
  /// [MASK], or with a token twice.
  BertTokenizer(const std::filesystem::path& vocab_file, const Options& options);

  std::string_view name() const override;
  TokenizerIdentity identity() const override;
  std::string fingerprint() const override { return fingerprint_; }
  Index vocab_size() const override { return static_cast<Index>(tokens_.size()); }
  TokenId eod() const override { return *special_.eos; }
  SpecialIds special_ids() const override { return special_; }
  std::vector<std::filesystem::path> files() const override { return {vocab_file_}; }
  std::unique_ptr<Cache> make_cache() const override;
  using Tokenizer::encode;
  void encode(std::string_view text, Cache& cache, TokenIds& ids) const override;
  std::string decode(std::span<const TokenId> ids) const override;

 private:
  TokenId find(std::string_view token) const;
  TokenId add(const std::string& token);

  std::filesystem::path vocab_file_;
  Options options_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, TokenId> ids_;
  SpecialIds special_;
  std::string fingerprint_;
  std::unique_ptr<const WordPiece> pieces_;
};

}  // namespace mpitron::tokenizers
