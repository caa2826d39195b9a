#include "tokenizers/split/word_counts.h"

#include <algorithm>

#include "tokenizers/split/split_lexer.h"

// Counts of pre-tokenizer pieces, from which BPE merges are learned: threads count parts of a
// corpus and add their counts up.

namespace mpitron::tokenizers {

void WordCounts::add_text(std::string_view text) {
  Gpt2Lexer lexer(text);
  for (std::string_view word = lexer.next(); !word.empty(); word = lexer.next()) {
    add(word, 1);
  }
}

void WordCounts::add(std::string_view word, Index count) {
  const auto found = counts_.find(word);
  if (found != counts_.end()) {
    found->second += count;
  } else {
    counts_.emplace(word, count);
  }
}

void WordCounts::add(const WordCounts& other) {
  for (const auto& [word, count] : other.counts_) {
    add(word, count);
  }
}

std::vector<std::pair<std::string, Index>> WordCounts::sorted() const {
  std::vector<std::pair<std::string, Index>> words(counts_.begin(), counts_.end());
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace mpitron::tokenizers
