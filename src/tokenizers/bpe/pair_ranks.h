#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "tokenizers/bpe/bpe_model.h"

namespace mpitron::tokenizers {

/// Rank of the merge of two tokens: an immutable hash table (open addressing, at most half full)
/// whose entry is one 64-bit word: 21 bits left id, 21 bits right id, 22 bits rank.
class PairRanks {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr Index kMaxTokens = Index{1} << 21;

  /// The rank of a merge is its place in the list. Ids must be below kMaxTokens and merges below
  /// 2^kRankBits, or they do not fit the word.
  explicit PairRanks(const std::vector<BpeModel::Merge>& merges)
      : shift_(64 - std::bit_width(2 * merges.size() | 1)),  // below 64 without merges, too
        mask_((std::size_t{1} << (64 - shift_)) - 1),
        entries_(mask_ + 1, kEmpty) {
    std::uint64_t rank = 0;
    for (const BpeModel::Merge& merge : merges) {
      const std::uint64_t key = key_of(merge.left, merge.right);
      std::size_t at = slot(key);
      while (entries_[at] != kEmpty) {
        at = (at + 1) & mask_;
      }
      entries_[at] = key << kRankBits | rank++;
    }
  }

  /// Returns kNone where the two tokens never merge.
  std::uint32_t rank(TokenId left, TokenId right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t at = slot(key);; at = (at + 1) & mask_) {
      const std::uint64_t entry = entries_[at];
      if (entry >> kRankBits == key) {
        return static_cast<std::uint32_t>(entry & ((1U << kRankBits) - 1));
      }
      if (entry == kEmpty) {
        return kNone;
      }
    }
  }

 private:
  static constexpr int kIdBits = 21;
  static constexpr int kRankBits = 22;
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  static std::uint64_t key_of(TokenId left, TokenId right) {
    return static_cast<std::uint64_t>(left) << kIdBits | static_cast<std::uint64_t>(right);
  }
  /// Fibonacci hashing: the upper bits of a product with 2^64 over the golden ratio.
  std::size_t slot(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15U) >> shift_; }

  int shift_;
  std::size_t mask_;
  std::vector<std::uint64_t> entries_;
};

}  // namespace mpitron::tokenizers
