#include "tokenizers/bpe/bpe_trainer.h"

#include <queue>
#include <set>
#include <tuple>

#include "tokenizers/bpe/pair_ranks.h"
#include "tokenizers/text/byte_alphabet.h"
#include "utils/error.h"

// Trains merges by counts of words: pairs wait in a heap with their counts, and a merge touches
// only the words that hold its pair. Equal counts are decided by the pair, so that a vocabulary
// repeats.

namespace mpitron::tokenizers {
namespace {

/// Occurrences from which a pair is merged: one that occurs once would be learned by heart.
constexpr Index kMinCount = 2;
constexpr Index kBytes = 256;

using Pair = std::pair<TokenId, TokenId>;

struct PairHash {
  std::size_t operator()(const Pair& pair) const {
    const auto key =
        static_cast<std::uint64_t>(pair.first) << 32 | static_cast<std::uint32_t>(pair.second);
    return key * 0x9E3779B97F4A7C15U >> 20;
  }
};

/// A distinct word as it is merged so far, and how often the corpus has it.
struct Word {
  TokenIds ids;
  Index count;
};

struct Occurrences {
  Index count = 0;
  std::vector<std::int32_t>
      words;  // where the pair was once; may name a word twice or one that lost it
};

/// An entry of the heap: the most frequent pair first, of equal ones that with the smallest ids.
struct Candidate {
  Index count;
  Pair pair;
  bool operator<(const Candidate& other) const {
    return std::tie(count, other.pair) < std::tie(other.count, pair);
  }
};

class Trainer {
 public:
  explicit Trainer(const WordCounts& counts) {
    model_.byte_ids.resize(kBytes);
    for (const unsigned char byte : bytes_in_vocabulary_order()) {
      model_.byte_ids[byte] = static_cast<TokenId>(model_.tokens.size());
      model_.tokens.emplace_back(1, static_cast<char>(byte));
    }
    for (const auto& [word, count] : counts.sorted()) {
      add_word(word, count);
    }
    for (const auto& [pair, occurrences] : pairs_) {
      queue_.push({occurrences.count, pair});
    }
  }

  /// Merges the most frequent pair; false when no pair is left that occurs often enough. Counts in
  /// the heap may be out of date: pairs that became rarer since are pushed back with their count,
  /// those that became more frequent were pushed by merge().
  bool merge_next() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const Index now = pairs_[best.pair].count;
      if (now == best.count && now >= kMinCount) {
        merge(best.pair);
        return true;
      }
      if (now < best.count && now >= kMinCount) {
        queue_.push({now, best.pair});  // counts that fell since are found out here
      }
    }
    return false;
  }

  Index tokens() const { return static_cast<Index>(model_.tokens.size()); }

  BpeModel finish() {
    model_.eod = static_cast<TokenId>(model_.tokens.size());
    model_.tokens.emplace_back(kEndOfText);
    return std::move(model_);
  }

 private:
  // Two merges can give the same bytes ("ab" + "c", "a" + "bc"); they share a token, for a
  // vocabulary names it once.
  TokenId token_for(const std::string& bytes) {
    const auto [place, added] = id_of_.emplace(bytes, static_cast<TokenId>(model_.tokens.size()));
    if (added) {
      model_.tokens.push_back(bytes);
    }
    return place->second;
  }

  void add_word(const std::string& text, Index count) {
    Word word{{}, count};
    for (const char c : text) {
      word.ids.push_back(model_.byte_ids[static_cast<unsigned char>(c)]);
    }
    const auto index = static_cast<std::int32_t>(words_.size());
    for (std::size_t i = 0; i + 1 < word.ids.size(); ++i) {
      change({word.ids[i], word.ids[i + 1]}, count, index);
    }
    words_.push_back(std::move(word));
  }

  /// Adds to a pair's count; a word that lost the pair stays in its list and is passed over later.
  void change(const Pair& pair, Index by, std::int32_t word) {
    Occurrences& occurrences = pairs_[pair];
    occurrences.count += by;
    if (by > 0 && (occurrences.words.empty() || occurrences.words.back() != word)) {
      occurrences.words.push_back(word);
    }
  }

  void merge(const Pair& pair) {
    const TokenId result = token_for(model_.tokens[static_cast<std::size_t>(pair.first)] +
                                     model_.tokens[static_cast<std::size_t>(pair.second)]);
    model_.merges.push_back({pair.first, pair.second, result});
    const std::vector<std::int32_t> affected = std::move(pairs_[pair].words);
    risen_.clear();
    for (const std::int32_t word : affected) {
      merge_in_word(pair, result, word);
    }
    pairs_.erase(pair);
    for (const Pair& risen : risen_) {
      if (const auto found = pairs_.find(risen); found != pairs_.end()) {
        queue_.push({found->second.count, risen});
      }
    }
  }

  // Only pairs at the edges of a merged place change: (a b)(b c) become (a m)(m c), or (m m)
  // between two places.
  void merge_in_word(const Pair& pair, TokenId result, std::int32_t index) {
    Word& word = words_[static_cast<std::size_t>(index)];
    TokenIds& ids = word.ids;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ids.size(); ++kept) {
      const bool here = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
      if (here) {
        if (kept > 0) {
          change({ids[kept - 1], pair.first}, -word.count, index);
          rise({ids[kept - 1], result}, word.count, index);
        }
        change(pair, -word.count, index);
        if (i + 2 < ids.size()) {
          change({pair.second, ids[i + 2]}, -word.count, index);
          rise({result, ids[i + 2]}, word.count, index);
        }
      }
      ids[kept] = here ? result : ids[i];
      i += here ? 2 : 1;
    }
    ids.resize(kept);
  }

  void rise(const Pair& pair, Index by, std::int32_t word) {
    change(pair, by, word);
    risen_.insert(pair);
  }

  BpeModel model_;
  std::unordered_map<std::string, TokenId> id_of_;  // of merged tokens
  std::vector<Word> words_;
  std::unordered_map<Pair, Occurrences, PairHash> pairs_;
  std::set<Pair> risen_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

void check_bpe_size(Index vocab_size) {
  if (vocab_size < kBytes + 1 || vocab_size > PairRanks::kMaxTokens) {
    throw_usage("--vocab-size {}: allowed are {} (the bytes and {}) to {}", vocab_size, kBytes + 1,
                kEndOfText, PairRanks::kMaxTokens);
  }
}

BpeModel train_bpe(const WordCounts& counts, Index vocab_size,
                   const std::function<void(Index done, Index all)>& on_merge) {
  check_bpe_size(vocab_size);
  Trainer trainer(counts);
  while (trainer.tokens() < vocab_size - 1 && trainer.merge_next()) {
    if (on_merge) {
      on_merge(trainer.tokens() - kBytes, vocab_size - 1 - kBytes);
    }
  }
  return trainer.finish();
}

}  // namespace mpitron::tokenizers
