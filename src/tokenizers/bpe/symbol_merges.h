#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::tokenizers {

/// Byte-pair merges over symbols of any kind: of all neighbouring pairs with a rule the one with
/// the smallest rank is merged first, of equal ranks the leftmost, until none is left.
class SymbolMerges {
 public:
  /// The neighbours `left` and `right` become `result`; smaller ranks go first.
  struct Rule {
    TokenId left = 0, right = 0;
    std::uint32_t rank = 0;
    TokenId result = 0;
  };

  /// A piece of text: a symbol and the bytes it covers. Symbols below 0 never merge.
  struct Symbol {
    TokenId id = 0;
    std::uint32_t bytes = 0;
  };

  /// Takes the rules in any order; of two for the same pair the last one counts.
  explicit SymbolMerges(std::span<const Rule> rules);

  /// Merges in place; the vector shrinks.
  void merge(std::vector<Symbol>& symbols) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Entry {
    std::uint64_t pair = ~std::uint64_t{0};
    std::uint32_t rank = kNone;
    TokenId result = 0;
  };
  struct Node;

  const Entry& find(const Symbol& left, const Symbol& right) const;
  void merge_short(std::vector<Symbol>& symbols) const;
  void merge_long(std::vector<Symbol>& symbols) const;

  int shift_;
  std::size_t mask_;
  std::vector<Entry> entries_;
  Entry none_;
};

}  // namespace mpitron::tokenizers
