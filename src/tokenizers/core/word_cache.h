#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::tokenizers {

/// The bytes of a word of at most 16 bytes, padded with zeros, and its length.
struct WordKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint32_t length = 0;

  bool operator==(const WordKey&) const = default;
};

namespace detail {

using WordMasks = std::array<std::array<std::uint64_t, 2>, 17>;

constexpr WordMasks make_word_masks() {
  WordMasks masks{};
  for (std::size_t length = 0; length < masks.size(); ++length) {
    for (std::size_t byte = 0; byte < length; ++byte) {
      masks[length][byte / 8] |= std::uint64_t{0xFF} << (byte % 8 * 8);
    }
  }
  return masks;
}

/// [length] which bits of the two halves belong to a word of that length (little-endian hosts).
inline constexpr WordMasks kWordMasks = make_word_masks();

}  // namespace detail

/// Remembers the ids of short words. Sets of two entries fill one cache line; a new word pushes out
/// the older one of its set. The number of sets grows with the words that are inserted, so that a
/// cache for a single sentence costs little. Lists of more than three ids lie in a pool; when that
/// is full, everything is forgotten. So the size is bounded.
class WordCache : public Tokenizer::Cache {
 public:
  static constexpr std::size_t kMaxBytes = 16;
  static constexpr std::uint32_t kInlineIds = 3;

  /// A word and its ids in half a cache line.
  struct alignas(32) Entry {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint16_t length = 0;  // 0: free
    std::uint16_t count = 0;
    std::array<TokenId, kInlineIds> ids{};  // more than three: the first is an offset into the pool
  };

  WordCache() : sets_(std::size_t{1} << kFirstBits) {}

  /// Key of a word of 1 to kMaxBytes bytes. `readable`: 16 bytes may be read from its start.
  static WordKey key_of(std::string_view word, bool readable) {
    WordKey key;
    key.length = static_cast<std::uint32_t>(word.size());
    if (readable && std::endian::native == std::endian::little) [[likely]] {
      std::memcpy(&key.low, word.data(), 8);
      std::memcpy(&key.high, word.data() + 8, 8);
      key.low &= detail::kWordMasks[key.length][0];
      key.high &= detail::kWordMasks[key.length][1];
    } else {
      std::array<char, kMaxBytes> bytes{};
      std::memcpy(bytes.data(), word.data(), word.size());
      std::memcpy(&key.low, bytes.data(), 8);
      std::memcpy(&key.high, bytes.data() + 8, 8);
    }
    return key;
  }

  /// Returns null where the word is not remembered.
  const Entry* find(const WordKey& key) const {
    for (const Entry& entry : sets_[set_of(key)]) {
      if (entry.low == key.low && entry.high == key.high && entry.length == key.length) {
        return &entry;
      }
    }
    return nullptr;
  }

  /// Returns entry.count ids, valid until the next insert.
  const TokenId* ids_of(const Entry& entry) const {
    return entry.count <= kInlineIds ? entry.ids.data() : pool_.data() + entry.ids[0];
  }

  /// The word must not be there yet. It becomes the newer one of its set.
  void insert(const WordKey& key, std::span<const TokenId> ids) {
    if (++inserted_ > sets_.size() && bits_ < kMostBits) {
      grow();
    }
    Entry entry{key.low,
                key.high,
                static_cast<std::uint16_t>(key.length),
                static_cast<std::uint16_t>(ids.size()),
                {}};
    if (ids.size() <= kInlineIds) {
      std::copy(ids.begin(), ids.end(), entry.ids.begin());
    } else {
      if (pool_.size() + ids.size() > kPoolIds) {
        sets_.assign(sets_.size(), {});
        pool_.clear();
      }
      entry.ids[0] = static_cast<TokenId>(pool_.size());
      pool_.insert(pool_.end(), ids.begin(), ids.end());
    }
    put(entry);
  }

 private:
  using Set = std::array<Entry, 2>;
  static constexpr int kFirstBits = 7, kMostBits = 17;
  static constexpr std::size_t kPoolIds = std::size_t{1} << 20;
  static_assert(sizeof(Set) == 64);

  /// Multiplies to mix, and takes the upper bits, which depend on all lower ones.
  std::size_t set_of(const WordKey& key) const {
    const std::uint64_t mixed =
        (key.low ^ (key.high * 0xD6E8FEB86659FD93U) ^ key.length) * 0x9E3779B97F4A7C15U;
    return mixed >> (64 - bits_);
  }

  void put(const Entry& entry) {
    Set& set = sets_[set_of({entry.low, entry.high, entry.length})];
    set[1] = set[0];
    set[0] = entry;
  }

  /// Four times as many sets; the younger entry of a set stays the younger one.
  void grow() {
    bits_ = std::min(bits_ + 2, kMostBits);
    const std::vector<Set> before = std::exchange(sets_, std::vector<Set>(std::size_t{1} << bits_));
    for (const Set& set : before) {
      for (const Entry& entry : {set[1], set[0]}) {
        if (entry.length > 0) {
          put(entry);
        }
      }
    }
  }

  int bits_ = kFirstBits;
  std::size_t inserted_ = 0;
  std::vector<Set> sets_;
  TokenIds pool_;
};

/// Appends the ids of `word`: remembered ones where the word is short and known, else those that
/// `compute(word, ids)` appends. `readable`: 16 bytes may be read from the word's start.
template <class Compute>
void append_cached(WordCache& cache, std::string_view word, bool readable, TokenIds& ids,
                   Compute&& compute) {
  if (word.empty() || word.size() > WordCache::kMaxBytes) {
    compute(word, ids);
    return;
  }
  const WordKey key = WordCache::key_of(word, readable);
  if (const WordCache::Entry* known = cache.find(key); known != nullptr) [[likely]] {
    const TokenId* first = cache.ids_of(*known);
    ids.insert(ids.end(), first, first + known->count);
    return;
  }
  const auto before = static_cast<std::ptrdiff_t>(ids.size());
  compute(word, ids);
  cache.insert(key, {ids.begin() + before, ids.end()});
}

}  // namespace mpitron::tokenizers
