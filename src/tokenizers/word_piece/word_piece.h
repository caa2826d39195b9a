#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/text/trie.h"

namespace mpitron::tokenizers {

/// Greedy longest-match-first pieces of one word (Schuster and Nakajima 2012, as BERT uses it): the
/// first piece is a token, every further one a token behind the continuation prefix. A word that
/// cannot be covered, or has too many characters, is one unknown token.
class WordPiece {
 public:
  /// Parameters of a vocabulary; the limit of characters is BERT's for a word.
  struct Options {
    TokenId unknown = 0;
    std::string continuation = "##";
    Index max_characters = 200;
  };

  /// `tokens` [v] in the order of their ids, which must be distinct.
  WordPiece(const std::vector<std::string>& tokens, Options options);

  /// Appends the ids of one word.
  void encode(std::string_view word, TokenIds& ids) const;

 private:
  Options options_;
  Trie trie_;
  Trie::Node continued_ = Trie::kRoot;
  bool has_continued_ = false;
};

}  // namespace mpitron::tokenizers
