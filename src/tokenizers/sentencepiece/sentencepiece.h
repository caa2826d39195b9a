#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/bpe/symbol_merges.h"
#include "tokenizers/core/word_cache.h"
#include "tokenizers/sentencepiece/sentencepiece_model.h"
#include "tokenizers/sentencepiece/sentencepiece_normalizer.h"
#include "tokenizers/word_piece/unigram.h"

namespace mpitron::tokenizers {

/// Text to ids and back as the SentencePiece library does it (Kudo and Richardson 2018), for
/// unigram and BPE models. Words between U+2581 signs are remembered where no piece goes across
/// them; a remembered path of the unigram model is used only where rounding cannot change it.
class SentencePiece {
 public:
  /// Remembered words, and buffers that keep their memory between texts.
  class Cache : public Tokenizer::Cache {
    friend class SentencePiece;
    WordCache words_;
    std::string normalized_;
    Unigram<float>::Workspace workspace_;
    std::vector<Unigram<float>::Step> path_;
    std::vector<SymbolMerges::Symbol> symbols_;
    TokenIds word_ids_;
  };

  explicit SentencePiece(SentencePieceModel model);

  const SentencePieceModel& model() const { return model_; }
  Index size() const { return static_cast<Index>(model_.pieces.size()); }

  /// Appends the ids of `text`. Error(data) for invalid UTF-8.
  void encode(std::string_view text, Cache& cache, TokenIds& ids) const;
  /// Returns the text; ids must be below size().
  std::string decode(std::span<const TokenId> ids) const;

 private:
  /// Returns the end of the word at `start` of the normalised text.
  std::size_t end_of_word(std::string_view text, std::size_t start) const;
  void encode_unigram(std::string_view word, float& sum, Cache& cache, TokenIds& ids) const;
  void append_path(Cache& cache, std::string_view word, float& sum, TokenIds& ids) const;
  void encode_merges(std::string_view word, Cache& cache, TokenIds& ids) const;
  /// Appends the ids of text that is no piece of the model: its bytes, or the unknown token.
  void append_unknown(std::string_view text, TokenIds& ids) const;
  void join_unknown(std::size_t from, TokenIds& ids) const;

  SentencePieceModel model_;
  SentencePieceNormalizer normalizer_;
  bool words_stand_alone_ = false;
  std::optional<Unigram<float>> unigram_;
  std::optional<SymbolMerges> merges_;
  Trie characters_;  // BPE: the symbol of every character that is or begins a piece
};

}  // namespace mpitron::tokenizers
