#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::tokenizers {

/// Counts of the pieces of GPT-2's pre-tokenizer in a corpus.
class WordCounts {
 public:
  /// Counts all pieces of a text. Error(data) where `text` is not UTF-8.
  void add_text(std::string_view text);
  /// Adds a word that was counted elsewhere, for example read from a file.
  void add(std::string_view word, Index count);
  /// Adds all counts of another, as threads do that counted parts of a text.
  void add(const WordCounts& other);

  Index distinct() const { return static_cast<Index>(counts_.size()); }
  /// Returns all words in the order of their bytes, which does not depend on how they were counted.
  std::vector<std::pair<std::string, Index>> sorted() const;

 private:
  /// Looks words up without making a string of each.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };
  std::unordered_map<std::string, Index, Hash, std::equal_to<>> counts_;
};

}  // namespace mpitron::tokenizers
