#include "tokenizers/text/trie.h"

#include <algorithm>

// Builds tries of tokens as double arrays (Aoe 1989): the child of a node for a byte lies at the
// node's base ^ byte.

namespace mpitron::tokenizers {

/// Places the nodes of a double array depth first over the sorted keys; a block of units that has
/// been passed over often enough is not tried again, so that building stays linear.
class TrieBuilder {
 public:
  using Entries = std::vector<std::pair<std::string_view, std::int32_t>>;

  explicit TrieBuilder(Trie& trie) : units_(trie.units_) { add_block(); }

  void build(const Entries& entries) {
    units_[Trie::kRoot].parent = Trie::kRoot;
    used_[Trie::kRoot] = true;
    std::vector<Range> open{{Trie::kRoot, 0, entries.size(), 0}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      place_children(entries, range, open);
    }
  }

 private:
  /// Keys first .. last - 1, which share `depth` bytes that lead to `node`.
  struct Range {
    Trie::Node node;
    std::size_t first, last, depth;
  };

  void add_block() {
    units_.resize(units_.size() + kBlock);
    used_.resize(units_.size());
  }

  /// Gives the node its value, finds a base at which all its children are free, and queues these.
  void place_children(const Entries& entries, const Range& range, std::vector<Range>& open) {
    std::size_t first = range.first;
    while (first < range.last && entries[first].first.size() == range.depth) {
      units_[range.node].value = entries[first++].second;
    }
    bytes_.clear();
    for (std::size_t i = first; i < range.last; ++i) {
      const auto byte = static_cast<unsigned char>(entries[i].first[range.depth]);
      if (bytes_.empty() || bytes_.back() != byte) {
        bytes_.push_back(byte);
      }
    }
    if (bytes_.empty()) {
      return;
    }
    const Trie::Node base = find_base();
    units_[range.node].base = base;
    for (const unsigned char byte : bytes_) {
      const Trie::Node child = base ^ byte;
      units_[child].parent = range.node;
      used_[child] = true;
      std::size_t last = first;
      while (last < range.last &&
             static_cast<unsigned char>(entries[last].first[range.depth]) == byte) {
        ++last;
      }
      open.push_back({child, first, last, range.depth + 1});
      first = last;
    }
  }

  bool fits(Trie::Node base) const {
    return std::none_of(bytes_.begin(), bytes_.end(),
                        [&](unsigned char byte) { return used_[base ^ byte]; });
  }

  /// Tries free units in order for the first child; after kTries misses it takes a new block.
  Trie::Node find_base() {
    constexpr std::size_t kTries = 64;
    while (used_[start_] && start_ + 1 < used_.size()) {
      ++start_;
    }
    std::size_t tries = 0;
    for (std::size_t slot = start_; slot < used_.size(); ++slot) {
      const auto base = static_cast<Trie::Node>(slot) ^ bytes_.front();
      if (used_[slot]) {
        continue;
      }
      if (fits(base)) {
        return base;
      }
      if (++tries == kTries) {
        start_ = std::max(start_, used_.size() - kBlock);  // what lies before is as good as full
        break;
      }
    }
    const auto base = static_cast<Trie::Node>(used_.size());
    add_block();
    return base;
  }

  static constexpr std::size_t kBlock = 256;

  std::vector<Trie::Unit>& units_;
  std::vector<bool> used_;
  std::vector<unsigned char> bytes_;
  std::size_t start_ = 0;
};

Trie::Trie(std::vector<std::pair<std::string_view, std::int32_t>> entries) {
  std::erase_if(entries, [](const auto& entry) { return entry.first.empty(); });
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_ = entries.size();
  TrieBuilder(*this).build(entries);
}

Trie::Match Trie::longest(std::string_view text, Node node) const {
  Match match;
  for (std::size_t i = 0; i < text.size() && step(node, text[i]); ++i) {
    if (value(node) != kNoValue) {
      match = {value(node), i + 1};
    }
  }
  return match;
}

std::int32_t Trie::find(std::string_view key) const {
  Node node = kRoot;
  for (const char byte : key) {
    if (!step(node, byte)) {
      return kNoValue;
    }
  }
  return value(node);
}

}  // namespace mpitron::tokenizers
