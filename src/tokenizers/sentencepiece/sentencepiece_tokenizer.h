#pragma once
#include <optional>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/sentencepiece/sentencepiece.h"
#include "tokenizers/text/marker_finder.h"

namespace mpitron::tokenizers {

/// Megatron's three tokenizers on a SentencePiece model. Source: its tokenizer.py.
///   SentencePieceTokenizer     adds <CLS> <SEP> <EOD> <MASK>, <PAD> <BOS> <EOS> where the model
///                              has none, and <extra_id_i>; finds them in text; eod is <EOD>
///   GPTSentencePieceTokenizer  the model's ids alone; eod is its </s>
///   Llama2Tokenizer            the same, with <s> in front of every text
class SentencePieceTokenizer : public Tokenizer {
 public:
  enum class Kind { plain, gpt, llama2 };

  /// Error(data) for a file that is no usable model.
  SentencePieceTokenizer(const std::filesystem::path& model_file, Kind kind, Index extra_ids = 0);

  std::string_view name() const override;
  TokenizerIdentity identity() const override;
  std::string fingerprint() const override { return fingerprint_; }
  Index vocab_size() const override { return pieces_.size() + added_; }
  TokenId eod() const override { return eod_; }
  SpecialIds special_ids() const override { return special_; }
  std::vector<std::filesystem::path> files() const override { return {model_file_}; }
  std::unique_ptr<Cache> make_cache() const override;
  using Tokenizer::encode;
  void encode(std::string_view text, Cache& cache, TokenIds& ids) const override;
  using Tokenizer::encode_part;
  void encode_part(std::string_view text, Cache& cache, TokenIds& ids) const override;
  std::string decode(std::span<const TokenId> ids) const override;

 private:
  struct Marker {
    std::string text;
    TokenId id;
  };

  void add_markers();
  TokenId add_marker(const std::string& text);
  TokenId add_marker(TokenId of_model, const char* otherwise);

  std::filesystem::path model_file_;
  Kind kind_;
  Index extra_ids_;
  SentencePiece pieces_;
  std::string fingerprint_;
  std::vector<Marker> markers_;
  std::optional<MarkerFinder> finder_;
  Index added_ = 0;
  SpecialIds special_;
  TokenId eod_ = 0;
};

}  // namespace mpitron::tokenizers
