#include "tokenizers/word_piece/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "utils/text/utf8.h"

// The Viterbi search of the unigram model over bytes: places[i] holds the best path that ends at
// byte i. Beside the rounded sum that decides, the two best sums in double are kept, from which
// callers learn how safe the choice is.

namespace mpitron::tokenizers {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Counts by continuation bytes: text is normalised UTF-8 here.
std::size_t bytes_of_first(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && continues_character(text[bytes])) {
    ++bytes;
  }
  return bytes;
}

}  // namespace

template <class Score>
Unigram<Score>::Unigram(const std::vector<Piece>& pieces, TokenId unknown, Score unknown_score)
    : unknown_(unknown),
      unknown_score_(unknown_score),
      largest_score_(std::abs(static_cast<double>(unknown_score))) {
  std::vector<std::pair<std::string_view, std::int32_t>> entries;
  for (const Piece& piece : pieces) {
    entries.emplace_back(piece.text, piece.id);
    const auto at = static_cast<std::size_t>(piece.id);
    scores_.resize(std::max(scores_.size(), at + 1));
    scores_[at] = piece.score;
    largest_score_ = std::max(largest_score_, std::abs(piece.score));
  }
  trie_ = Trie(std::move(entries));
}

template <class Score>
Score Unigram<Score>::add(Score sum, TokenId id) const {
  // The reference adds a piece's score in double and the penalty of an unknown one in Score.
  return id == unknown_
             ? sum + unknown_score_
             : static_cast<Score>(scores_[static_cast<std::size_t>(id)] + static_cast<double>(sum));
}

/// Extends paths by all pieces that start where `from` ends; `bytes` is the length of the first
/// character. The unknown piece competes only where no piece is that character alone, as in
/// SentencePiece; of equal sums the first found stays.
template <class Score>
void Unigram<Score>::extend(const Place& from, std::string_view rest, Place* places,
                            std::size_t bytes) const {
  const auto reach = [&](std::size_t length, TokenId id, double candidate, double score) {
    Place& place = places[length];
    if (place.bytes == 0) {
      place = {static_cast<Score>(candidate), id, static_cast<std::uint32_t>(length), kNever,
               kNever};
    } else if (candidate > static_cast<double>(place.best)) {
      place.best = static_cast<Score>(candidate);
      place.id = id;
      place.bytes = static_cast<std::uint32_t>(length);
    }
    const double first = from.first + score;
    place.second = std::max({place.second, std::min(place.first, first), from.second + score});
    place.first = std::max(place.first, first);
  };
  Trie::Node node = Trie::kRoot;
  bool has_single = false;
  for (std::size_t length = 0; length < rest.size() && trie_.step(node, rest[length]);) {
    ++length;
    if (const TokenId id = trie_.value(node); id != Trie::kNoValue) {
      const double score = scores_[static_cast<std::size_t>(id)];
      reach(length, id, score + static_cast<double>(from.best), score);
      has_single |= length == bytes;
    }
  }
  if (!has_single) {
    reach(bytes, unknown_, static_cast<double>(unknown_score_ + from.best),
          static_cast<double>(unknown_score_));
  }
}

template <class Score>
double Unigram<Score>::best_path(std::string_view text, Score before, Workspace& workspace,
                                 std::vector<Step>& path) const {
  auto& places = workspace.places_;
  places.assign(text.size() + 1, Place{});
  places[0] = {before, 0, 0, 0, kNever};
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::size_t bytes = bytes_of_first(rest);
    const Place from = places[at];
    extend(from, rest, &places[at], bytes);
    at += bytes;
  }
  const auto first = static_cast<std::ptrdiff_t>(path.size());
  for (std::size_t end = text.size(); end > 0; end -= places[end].bytes) {
    path.push_back({places[end].id, places[end].bytes});
  }
  std::reverse(path.begin() + first, path.end());
  return places.back().first - places.back().second;
}

template class Unigram<float>;
template class Unigram<double>;

}  // namespace mpitron::tokenizers
