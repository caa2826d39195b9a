#include "tokenizers/bpe/symbol_merges.h"

#include <array>
#include <bit>
#include <queue>

// Byte-pair merges for vocabularies that are not GPT-2's (SentencePiece, tokenizer.json): symbols
// are any ids, rules have any ranks. Short pieces are scanned, long ones keep candidates in a
// queue; both merge the smallest rank first and the leftmost of equal ones, so they agree.

namespace mpitron::tokenizers {
namespace {

constexpr std::size_t kShort = 48;  // symbols; below it a scan is faster than a queue

std::uint64_t pair_of(TokenId left, TokenId right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

/// Mixes the left id into the lower half before the multiplication, which moves bits upwards only.
std::size_t slot_of(std::uint64_t pair, int shift) {
  return ((pair ^ pair >> 29) * 0x9E3779B97F4A7C15U) >> shift;
}

}  // namespace

SymbolMerges::SymbolMerges(std::span<const Rule> rules)
    : shift_(64 - std::bit_width(2 * rules.size() | 1)),
      mask_((std::size_t{1} << (64 - shift_)) - 1),
      entries_(mask_ + 1) {
  for (const Rule& rule : rules) {
    const std::uint64_t pair = pair_of(rule.left, rule.right);
    std::size_t at = slot_of(pair, shift_);
    while (entries_[at].rank != kNone && entries_[at].pair != pair) {
      at = (at + 1) & mask_;
    }
    entries_[at] = {pair, rule.rank, rule.result};
  }
}

/// The sign bit of the two ids together says that one of them is negative.
const SymbolMerges::Entry& SymbolMerges::find(const Symbol& left, const Symbol& right) const {
  if ((left.id | right.id) < 0) {
    return none_;
  }
  const std::uint64_t pair = pair_of(left.id, right.id);
  for (std::size_t at = slot_of(pair, shift_);; at = (at + 1) & mask_) {
    if (entries_[at].pair == pair || entries_[at].rank == kNone) {
      return entries_[at].pair == pair ? entries_[at] : none_;
    }
  }
}

void SymbolMerges::merge(std::vector<Symbol>& symbols) const {
  symbols.size() <= kShort ? merge_short(symbols) : merge_long(symbols);
}

void SymbolMerges::merge_short(std::vector<Symbol>& symbols) const {
  std::array<std::uint32_t, kShort> ranks{};  // of the pair (i, i + 1)
  std::size_t size = symbols.size();
  for (std::size_t i = 0; i + 1 < size; ++i) {
    ranks[i] = find(symbols[i], symbols[i + 1]).rank;
  }
  while (size > 1) {
    std::size_t at = 0;
    for (std::size_t i = 1; i + 1 < size; ++i) {
      at = ranks[i] < ranks[at] ? i : at;
    }
    if (ranks[at] == kNone) {
      break;
    }
    symbols[at] = {find(symbols[at], symbols[at + 1]).result,
                   symbols[at].bytes + symbols[at + 1].bytes};
    --size;
    for (std::size_t i = at + 1; i < size; ++i) {
      symbols[i] = symbols[i + 1];
      ranks[i - 1] = ranks[i];
    }
    if (at + 1 < size) {
      ranks[at] = find(symbols[at], symbols[at + 1]).rank;
    }
    if (at > 0) {
      ranks[at - 1] = find(symbols[at - 1], symbols[at]).rank;
    }
  }
  symbols.resize(size);
}

struct SymbolMerges::Node {
  Symbol symbol;
  std::int32_t previous, next;
};

/// Merges by a queue of candidates over a linked list: n log n. A candidate counts only if its
/// sides still cover the bytes that they covered when it was queued.
void SymbolMerges::merge_long(std::vector<Symbol>& symbols) const {
  using Place = std::int32_t;
  struct Candidate {
    std::uint32_t rank;
    Place at;
    std::uint32_t bytes;  // of both sides: a later merge of either changes them
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  check_piece_length(symbols.size());
  const auto size = static_cast<Place>(symbols.size());
  std::vector<Node> nodes;
  nodes.reserve(symbols.size());
  for (Place i = 0; i < size; ++i) {
    nodes.push_back({symbols[static_cast<std::size_t>(i)], i - 1, i + 1});
  }
  const auto node = [&](Place i) -> Node& { return nodes[static_cast<std::size_t>(i)]; };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto push = [&](Place i) {
    if (i < 0 || node(i).next >= size) {
      return;
    }
    const Symbol &left = node(i).symbol, &right = node(node(i).next).symbol;
    if (const std::uint32_t rank = find(left, right).rank; rank != kNone) {
      queue.push({rank, i, left.bytes + right.bytes});
    }
  };
  for (Place i = 0; i < size; ++i) {
    push(i);
  }
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Node& left = node(best.at);
    if (left.symbol.bytes == 0 || left.next >= size ||
        left.symbol.bytes + node(left.next).symbol.bytes != best.bytes) {
      continue;
    }
    Node& right = node(left.next);
    left.symbol = {find(left.symbol, right.symbol).result, best.bytes};
    right.symbol.bytes = 0;
    left.next = right.next;
    if (left.next < size) {
      node(left.next).previous = best.at;
    }
    push(best.at);
    push(left.previous);
  }
  symbols.clear();
  for (Place i = 0; i < size; i = node(i).next) {
    symbols.push_back(node(i).symbol);
  }
}

}  // namespace mpitron::tokenizers
