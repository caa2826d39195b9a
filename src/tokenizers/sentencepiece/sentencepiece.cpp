#include "tokenizers/sentencepiece/sentencepiece.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <limits>
#include <map>
#include <utility>

#include "tokenizers/core/word_cache.h"
#include "utils/text/utf8.h"

// Encoding and decoding with a SentencePiece model. Ids must equal the library's bit for bit, so
// its rounding is followed: scores are summed up in float from the start of the text.

namespace mpitron::tokenizers {
namespace {

using Model = SentencePieceModel;
using PieceType = Model::PieceType;

constexpr TokenId kUnknownSymbol = -1;

std::size_t character_bytes(std::string_view text) {
  return static_cast<std::size_t>(std::max(1, decode_utf8(text).bytes));
}

/// Returns whether no piece has U+2581 behind another character: pieces then never reach into the
/// next word, and words can be cached.
bool no_piece_crosses_words(const Model& model) {
  return std::all_of(model.text_ids.begin(), model.text_ids.end(), [](const auto& entry) {
    std::string_view text = entry.first;
    while (text.starts_with(kMetaSpace)) {
      text.remove_prefix(kMetaSpace.size());
    }
    return text.find(kMetaSpace) == std::string_view::npos;
  });
}

/// Gives user defined symbols a score above every path through other pieces, and unknown characters
/// ten less than the worst piece, as the library does.
Unigram<float> make_unigram(const Model& model) {
  constexpr float kUnknownPenalty = 10;
  float smallest = FLT_MAX;
  float largest = FLT_MIN;  // as in the library, where scores below 0 do not change it
  for (const Model::Piece& piece : model.pieces) {
    if (piece.type == PieceType::normal) {
      smallest = std::min(smallest, piece.score);
      largest = std::max(largest, piece.score);
    }
  }
  std::vector<Unigram<float>::Piece> pieces;
  for (const auto& [text, id] : model.text_ids) {
    const Model::Piece& piece = model.pieces[static_cast<std::size_t>(id)];
    if (piece.type == PieceType::user_defined) {
      pieces.push_back({text, static_cast<float>(text.size()) * largest - 0.1, id});
    } else if (piece.type == PieceType::normal) {
      pieces.push_back({text, piece.score, id});
    }
  }
  return {pieces, model.unknown, smallest - kUnknownPenalty};
}

/// Makes BPE merges of scored pieces: every pair of symbols whose texts together are a piece
/// becomes a rule, ranked by that piece's score. Symbols are pieces by their ids, and behind them
/// characters that only occur inside pieces.
class MergeBuilder {
 public:
  explicit MergeBuilder(const Model& model) : model_(model) {
    for (const auto& [text, id] : model.text_ids) {
      if (type_of(id) != PieceType::user_defined) {
        symbols_.emplace(text, id);
      }
    }
    for (const auto& [text, id] : model.text_ids) {
      add_characters(text);
    }
    for (const auto& [text, id] : model.text_ids) {
      add_rules(text, id);
    }
    rank_rules();
  }

  SymbolMerges merges() const { return SymbolMerges(rules_); }

  Trie characters() const {
    std::vector<std::pair<std::string_view, std::int32_t>> entries;
    for (const auto& [text, id] : symbols_) {
      if (character_bytes(text) == text.size()) {
        entries.emplace_back(text, id);
      }
    }
    return Trie(std::move(entries));
  }

 private:
  PieceType type_of(TokenId id) const { return model_.pieces[static_cast<std::size_t>(id)].type; }

  void add_characters(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view character = text.substr(at, character_bytes(text.substr(at)));
      const auto next = static_cast<TokenId>(model_.pieces.size()) + added_;
      added_ += symbols_.emplace(character, next).second ? 1 : 0;
      at += character.size();
    }
  }

  void add_rules(std::string_view text, TokenId id) {
    for (std::size_t at = character_bytes(text); at < text.size();
         at += character_bytes(text.substr(at))) {
      const auto left = symbols_.find(text.substr(0, at));
      const auto right = symbols_.find(text.substr(at));
      if (left != symbols_.end() && right != symbols_.end()) {
        rules_.push_back({left->second, right->second, 0, id});
      }
    }
  }

  /// Ranks larger scores first; equal scores have equal ranks, so that the leftmost is merged.
  void rank_rules() {
    std::map<float, std::uint32_t, std::greater<>> ranks;
    const auto score = [&](const SymbolMerges::Rule& rule) {
      return model_.pieces[static_cast<std::size_t>(rule.result)].score;
    };
    for (const SymbolMerges::Rule& rule : rules_) {
      ranks.emplace(score(rule), 0);
    }
    std::uint32_t next = 0;
    for (auto& [value, rank] : ranks) {
      rank = next++;
    }
    for (SymbolMerges::Rule& rule : rules_) {
      rule.rank = ranks[score(rule)];
    }
  }

  const Model& model_;
  std::unordered_map<std::string_view, TokenId> symbols_;
  TokenId added_ = 0;
  std::vector<SymbolMerges::Rule> rules_;
};

}  // namespace

SentencePiece::SentencePiece(SentencePieceModel model)
    : model_(std::move(model)),
      normalizer_(model_),
      words_stand_alone_(model_.normalizer.escape_whitespaces && no_piece_crosses_words(model_)) {
  if (model_.kind == Model::Kind::unigram) {
    unigram_.emplace(make_unigram(model_));
  } else {
    const MergeBuilder builder(model_);
    merges_.emplace(builder.merges());
    characters_ = builder.characters();
  }
}

std::size_t SentencePiece::end_of_word(std::string_view text, std::size_t start) const {
  if (!words_stand_alone_) {
    return text.size();
  }
  std::size_t at = start;
  while (text.substr(at).starts_with(kMetaSpace)) {
    at += kMetaSpace.size();
  }
  return std::min(text.find(kMetaSpace, at), text.size());
}

void SentencePiece::append_unknown(std::string_view text, TokenIds& ids) const {
  if (!model_.byte_fallback) {
    ids.push_back(model_.unknown);
    return;
  }
  for (const char byte : text) {
    ids.push_back(model_.byte_ids[static_cast<unsigned char>(byte)]);
  }
}

void SentencePiece::append_path(Cache& cache, std::string_view word, float& sum,
                                TokenIds& ids) const {
  std::size_t at = 0;
  for (const auto& step : cache.path_) {
    sum = unigram_->add(sum, step.id);
    if (step.id == model_.unknown) {
      append_unknown(word.substr(at, step.bytes), ids);
    } else {
      ids.push_back(step.id);
    }
    at += step.bytes;
  }
}

/// Encodes a word after a text whose score was `sum`. The library adds scores up from the start of
/// the text, rounding to float, so the sum before a word can decide between two paths of nearly the
/// same score. A remembered path is right as long as its lead over the second best is larger than
/// all rounding errors together; the lead is stored in front of its ids.
void SentencePiece::encode_unigram(std::string_view word, float& sum, Cache& cache,
                                   TokenIds& ids) const {
  const bool is_short = word.size() <= WordCache::kMaxBytes;
  const WordKey key = is_short ? WordCache::key_of(word, false) : WordKey{};
  if (is_short) {
    constexpr double kRoundings = 2 * (WordCache::kMaxBytes + 1);
    const double largest =
        std::abs(static_cast<double>(sum)) + WordCache::kMaxBytes * unigram_->largest_score();
    const double error = kRoundings * largest * FLT_EPSILON;
    const WordCache::Entry* known = cache.words_.find(key);
    if (known != nullptr) {
      const TokenId* stored = cache.words_.ids_of(*known);
      if (std::bit_cast<float>(stored[0]) > error) {
        for (std::uint32_t i = 1; i < known->count; ++i) {
          ids.push_back(stored[i]);
          sum = unigram_->add(sum, stored[i]);
        }
        return;
      }
    }
  }
  cache.path_.clear();
  const double lead = unigram_->best_path(word, sum, cache.workspace_, cache.path_);
  append_path(cache, word, sum, ids);
  const bool remembers_bytes =
      !model_.byte_fallback || std::none_of(cache.path_.begin(), cache.path_.end(),
                                            [&](auto step) { return step.id == model_.unknown; });
  if (is_short && remembers_bytes) {
    cache.word_ids_.assign(1, std::bit_cast<TokenId>(static_cast<float>(
                                  std::min(lead, double{std::numeric_limits<float>::max()}))));
    for (const auto& step : cache.path_) {
      cache.word_ids_.push_back(step.id);
    }
    cache.words_.insert(key, cache.word_ids_);
  }
}

/// User defined symbols get ids below -1, which never merge and lead back to the piece.
void SentencePiece::encode_merges(std::string_view word, Cache& cache, TokenIds& ids) const {
  auto& symbols = cache.symbols_;
  symbols.clear();
  for (std::size_t at = 0; at < word.size();) {
    const std::string_view rest = word.substr(at);
    SymbolMerges::Symbol symbol{kUnknownSymbol, 0};
    const Trie::Match whole =
        normalizer_.symbols().empty() ? Trie::Match{} : normalizer_.symbols().longest(rest);
    if (whole.bytes > 0) {
      symbol = {~whole.value - 1,
                static_cast<std::uint32_t>(whole.bytes)};  // below -1: never merges
    } else {
      const std::size_t bytes = character_bytes(rest);
      symbol = {characters_.find(rest.substr(0, bytes)), static_cast<std::uint32_t>(bytes)};
    }
    symbols.push_back(symbol);
    at += symbol.bytes;
  }
  merges_->merge(symbols);
  std::size_t at = 0;
  for (const SymbolMerges::Symbol& symbol : symbols) {
    const TokenId id = symbol.id < kUnknownSymbol ? ~(symbol.id + 1) : symbol.id;
    if (id < 0 || id >= size()) {
      append_unknown(word.substr(at, symbol.bytes), ids);
    } else {
      ids.push_back(id);
    }
    at += symbol.bytes;
  }
}

/// Joins a run of unknown characters to one unknown token, as the library does without byte
/// fallback.
void SentencePiece::join_unknown(std::size_t from, TokenIds& ids) const {
  const auto first = ids.begin() + static_cast<std::ptrdiff_t>(from);
  ids.erase(std::unique(first, ids.end(),
                        [&](TokenId a, TokenId b) { return a == b && a == model_.unknown; }),
            ids.end());
}

void SentencePiece::encode(std::string_view text, Cache& cache, TokenIds& ids) const {
  normalizer_.normalize(text, cache.normalized_);
  const std::string_view normalized = cache.normalized_;
  const std::size_t before = ids.size();
  float sum = 0;
  for (std::size_t at = 0; at < normalized.size();) {
    const std::size_t end = end_of_word(normalized, at);
    const std::string_view word = normalized.substr(at, end - at);
    if (unigram_) {
      encode_unigram(word, sum, cache, ids);
    } else {
      append_cached(
          cache.words_, word, normalized.size() - at >= WordCache::kMaxBytes, ids,
          [&](std::string_view missed, TokenIds& out) { encode_merges(missed, cache, out); });
    }
    at = end;
  }
  if (!model_.byte_fallback) {
    join_unknown(before, ids);
  }
}

/// Collects byte pieces until another piece comes, since only together they are UTF-8. The blank in
/// front of the text, which encoding has added, is dropped.
std::string SentencePiece::decode(std::span<const TokenId> ids) const {
  std::string text;
  std::string bytes;
  const bool strips =
      model_.normalizer.add_dummy_prefix || model_.normalizer.remove_extra_whitespaces;
  bool at_start = true;
  bool start_seen = false;
  for (const TokenId id : ids) {
    const Model::Piece& piece = model_.pieces[static_cast<std::size_t>(id)];
    if (piece.type == PieceType::byte) {
      bytes += static_cast<char>(std::find(model_.byte_ids.begin(), model_.byte_ids.end(), id) -
                                 model_.byte_ids.begin());
      continue;
    }
    text += replace_invalid_utf8(std::exchange(bytes, {}));
    at_start = at_start && !start_seen && text.empty();
    start_seen = false;
    if (piece.type == PieceType::unknown) {
      text += model_.unknown_surface;
    } else if (piece.type != PieceType::control) {
      std::string_view rest = piece.text;
      if (at_start && strips && rest.starts_with(kMetaSpace)) {
        rest.remove_prefix(kMetaSpace.size());
        start_seen = !model_.normalizer.remove_extra_whitespaces;
      }
      for (std::size_t at = rest.find(kMetaSpace); at != std::string_view::npos;
           at = rest.find(kMetaSpace)) {
        text += rest.substr(0, at);
        text += ' ';
        rest.remove_prefix(at + kMetaSpace.size());
      }
      text += rest;
    }
  }
  return text + replace_invalid_utf8(bytes);
}

}  // namespace mpitron::tokenizers
