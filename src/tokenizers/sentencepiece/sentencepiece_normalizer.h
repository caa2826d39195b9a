#pragma once
#include <array>
#include <string>
#include <string_view>

#include "tokenizers/sentencepiece/sentencepiece_model.h"
#include "tokenizers/text/charsmap.h"
#include "tokenizers/text/trie.h"

namespace mpitron::tokenizers {

/// SentencePiece's text normalisation: user defined symbols stay, the longest rule of the charsmap
/// applies, spaces become U+2581. Source: sentencepiece's normalizer.cc.
class SentencePieceNormalizer {
 public:
  /// Copies what it needs of the model.
  explicit SentencePieceNormalizer(const SentencePieceModel& model);

  /// Writes the normalised text into `out` (cleared first). Error(data) for invalid UTF-8.
  void normalize(std::string_view text, std::string& out) const;

  /// Returns the user defined symbols, which models keep whole.
  const Trie& symbols() const { return symbols_; }

 private:
  struct Part {
    std::string_view text;
    std::size_t bytes;  // of the input
  };
  /// Returns the replacement of the beginning of `rest`, which is the whole input from `offset`.
  Part next(std::string_view rest, std::size_t offset) const;
  std::string_view space() const { return options_.escape_whitespaces ? kMetaSpace : " "; }

  SentencePieceModel::Normalizer options_;
  CharsMap charsmap_;
  Trie symbols_;
  std::array<bool, 128> plain_{};  // stays as it is before another ASCII character
};

}  // namespace mpitron::tokenizers
