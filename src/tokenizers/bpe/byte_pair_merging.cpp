#include <algorithm>
#include <queue>

#include "tokenizers/bpe/byte_pair_encoding.h"
#include "utils/check.h"
#include "utils/error.h"

// Merges within one piece. Short pieces search their pairs; long ones keep them in a heap, so that
// a megabyte without a blank takes no quadratic time.

namespace mpitron::tokenizers {
namespace {

constexpr std::uint32_t kNone = PairRanks::kNone;

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

}  // namespace

/// Merges in arrays on the stack: ids_i, and ranks_i of the pair (i, i + 1), ended by kNone. The
/// time is quadratic in the length, which is at most kShortBytes. Returns the number of ids.
std::size_t BytePairEncoding::merge_short(std::string_view piece, TokenId* ids) const {
  std::array<std::uint32_t, kShortBytes> ranks;
  std::size_t size = piece.size();
  for (std::size_t i = 0; i < size; ++i) {
    ids[i] = model_.byte_ids[byte_at(piece, i)];
  }
  for (std::size_t i = 0; i + 1 < size; ++i) {
    ranks[i] = byte_ranks_[byte_at(piece, i) * 256 + byte_at(piece, i + 1)];
  }
  while (size > 1) {
    // Rank and place in one word: the smallest rank, and of equal ones the leftmost, without a
    // branch.
    std::uint64_t best = ~std::uint64_t{0};
    for (std::size_t i = 0; i + 1 < size; ++i) {
      best = std::min(best, std::uint64_t{ranks[i]} << 32 | i);
    }
    const auto rank = static_cast<std::uint32_t>(best >> 32);
    if (rank == kNone) {
      break;
    }
    const std::size_t at = best & 0xFFFFFFFF;
    --size;
    for (std::size_t i = at + 1; i < size; ++i) {
      ids[i] = ids[i + 1];
      ranks[i - 1] = ranks[i];
    }
    ids[at] = model_.merges[rank].result;
    if (at + 1 < size) {
      ranks[at] = ranks_.rank(ids[at], ids[at + 1]);
    }
    if (at > 0) {
      ranks[at - 1] = ranks_.rank(ids[at - 1], ids[at]);
    }
  }
  return size;
}

/// Merges by a queue of candidate pairs over a linked list: n log n. Error(data) where it is longer
/// than any text without a break can be.
void BytePairEncoding::merge_long(std::string_view piece, TokenIds& ids) const {
  using Place = std::int32_t;
  struct Node {
    TokenId id;
    Place previous;
    Place next;
  };
  struct Candidate {
    std::uint32_t rank;
    Place at;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  check_piece_length(piece.size());
  const auto size = static_cast<Place>(piece.size());
  std::vector<Node> nodes;
  nodes.reserve(piece.size());
  for (Place i = 0; i < size; ++i) {
    nodes.push_back({model_.byte_ids[byte_at(piece, static_cast<std::size_t>(i))], i - 1, i + 1});
  }
  const auto node = [&](Place i) -> Node& { return nodes[static_cast<std::size_t>(i)]; };
  const auto rank_at = [&](Place i) {
    return i >= 0 && node(i).next < size ? ranks_.rank(node(i).id, node(node(i).next).id) : kNone;
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto push = [&](Place i) {
    if (const std::uint32_t rank = rank_at(i); rank != kNone) {
      queue.push({rank, i});
    }
  };
  for (Place i = 0; i < size; ++i) {
    push(i);
  }
  constexpr TokenId kGone = -1;
  while (!queue.empty()) {
    const auto [rank, at] = queue.top();
    queue.pop();
    if (node(at).id == kGone || rank_at(at) != rank) {
      continue;  // one side was merged since
    }
    const Place gone = node(at).next;
    node(at).id = model_.merges[rank].result;
    node(at).next = node(gone).next;
    node(gone).id = kGone;
    if (node(at).next < size) {
      node(node(at).next).previous = at;
    }
    push(at);
    push(node(at).previous);
  }
  for (Place i = 0; i < size; i = node(i).next) {
    ids.push_back(node(i).id);
  }
}

void BytePairEncoding::merge(std::string_view piece, TokenIds& ids) const {
  if (const auto whole = whole_pieces_.find(piece); whole != whole_pieces_.end()) {
    ids.push_back(whole->second);
    return;
  }
  if (piece.size() > kShortBytes) {
    merge_long(piece, ids);
    return;
  }
  std::array<TokenId, kShortBytes> merged;
  const std::size_t count = merge_short(piece, merged.data());
  ids.insert(ids.end(), merged.begin(), merged.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace mpitron::tokenizers
