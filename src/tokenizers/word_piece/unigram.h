#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/text/trie.h"

namespace mpitron::tokenizers {

/// The unigram language model (Kudo 2018): of all ways to cut a text into pieces, the one with the
/// largest sum of scores; a character that is no piece costs a penalty. `Score` is the type the
/// sums are rounded to, which decides between near ties: float in SentencePiece, double in Hugging
/// Face's tokenizers.
template <class Score>
class Unigram {
 public:
  /// A piece of the vocabulary with its log-probability.
  struct Piece {
    std::string_view text;
    double score = 0;
    TokenId id = 0;
  };

  /// One step of a path: the id, and the bytes it covers.
  struct Step {
    TokenId id = 0;
    std::uint32_t bytes = 0;
  };

  /// Buffers of one thread, reused between calls.
  class Workspace {
    friend class Unigram;
    struct Place {
      Score best = 0;
      TokenId id = 0;
      std::uint32_t bytes = 0;  // of the last piece; 0: not reached
      double first = 0;         // the two best sums without rounding
      double second = 0;
    };
    std::vector<Place> places_;
  };

  /// Pieces that text can become. `unknown_score` is the score of an unknown character.
  Unigram(const std::vector<Piece>& pieces, TokenId unknown, Score unknown_score);

  /// Appends the best path of `text` after a text whose sum was `before`; returns by how much the
  /// second best path is worse (without rounding).
  double best_path(std::string_view text, Score before, Workspace& workspace,
                   std::vector<Step>& path) const;

  /// Returns the sum after one more piece, rounded as best_path rounds it.
  Score add(Score sum, TokenId id) const;

  /// Returns the largest absolute score of any piece, for bounds of rounding errors.
  double largest_score() const { return largest_score_; }
  TokenId unknown() const { return unknown_; }

 private:
  using Place = typename Workspace::Place;
  void extend(const Place& from, std::string_view rest, Place* places, std::size_t bytes) const;

  Trie trie_;
  std::vector<double> scores_;  // by id
  TokenId unknown_;
  Score unknown_score_;
  double largest_score_ = 0;
};

extern template class Unigram<float>;
extern template class Unigram<double>;

}  // namespace mpitron::tokenizers
