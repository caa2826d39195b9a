#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/text/trie.h"

namespace mpitron::tokenizers {

/// Finds the leftmost of several strings (special tokens) in a text.
class MarkerFinder {
 public:
  /// Which of several markers that start at the same place is taken.
  enum class Tie { first_listed, longest };

  /// A marker in the text, in bytes.
  struct Hit {
    std::size_t at = 0;
    std::size_t bytes = 0;
    std::size_t marker = 0;  // index in the list
  };

  MarkerFinder(const std::vector<std::string>& markers, Tie tie);

  /// Returns the first marker that begins at or behind `from`, nothing where there is none.
  std::optional<Hit> next(std::string_view text, std::size_t from) const;

 private:
  Tie tie_;
  Trie trie_;
  /// Bytes that begin some marker: all others are passed over without the trie.
  std::array<bool, 256> starts_{};
  /// The byte with which all markers begin, where it is one: it is searched by memchr.
  std::optional<char> only_start_;
};

}  // namespace mpitron::tokenizers
