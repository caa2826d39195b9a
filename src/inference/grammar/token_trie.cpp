#include "inference/grammar/token_trie.h"

#include <algorithm>
#include <numeric>

// Stores the vocabulary as a tree of bytes in one array: nodes of one token's bytes follow each
// other, and a node knows where its subtree ends, so that a byte that is not allowed skips all
// tokens behind it.

namespace mpitron::inference {
namespace {

constexpr std::size_t kLongestToken = 1000;  // bytes of a token

}  // namespace

TokenTrie::TokenTrie(const tokenizers::Tokenizer& tokenizer)
    : bytes_(static_cast<std::size_t>(tokenizer.vocab_size())), another_(bytes_.size(), -1) {
  std::vector<TokenId> sorted;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    bytes_[i] = tokenizer.bytes_of(id);
    if (!bytes_[i].empty() && bytes_[i].size() <= kLongestToken) {
      sorted.push_back(id);
      deepest_ = std::max(deepest_, bytes_[i].size());
    }
  }
  std::ranges::sort(sorted, {}, [&](TokenId id) { return std::pair(bytes(id), id); });
  add_nodes(sorted, 0);
}

/// Adds the nodes of texts that are equal up to `depth`, below the node that ends there.
void TokenTrie::add_nodes(std::span<const TokenId> sorted, std::size_t depth) {
  while (!sorted.empty()) {
    const auto byte = static_cast<unsigned char>(bytes(sorted.front())[depth]);
    const auto group = std::ranges::find_if(
        sorted, [&](TokenId id) { return static_cast<unsigned char>(bytes(id)[depth]) != byte; });
    const auto size = static_cast<std::size_t>(group - sorted.begin());
    std::span<const TokenId> below = sorted.first(size);
    sorted = sorted.subspan(size);
    const std::size_t number = nodes_.size();
    nodes_.push_back({0, -1, static_cast<std::uint16_t>(depth), byte});
    while (!below.empty() && bytes(below.front()).size() == depth + 1) {
      another_[static_cast<std::size_t>(below.front())] = nodes_[number].token;
      nodes_[number].token = below.front();
      below = below.subspan(1);
    }
    add_nodes(below, depth + 1);
    nodes_[number].end = static_cast<std::uint32_t>(nodes_.size());
  }
}

void TokenTrie::allow(ByteAutomaton& automaton, ByteAutomaton::State state,
                      std::vector<std::uint64_t>& mask) const {
  std::vector<ByteAutomaton::State> before(deepest_ + 1);
  before[0] = state;
  for (std::size_t i = 0; i < nodes_.size();) {
    const Node& node = nodes_[i];
    const ByteAutomaton::State next = automaton.next(before[node.depth], node.byte);
    if (next == ByteAutomaton::kDead) {
      i = node.end;
      continue;
    }
    before[node.depth + 1u] = next;
    for (TokenId id = node.token; id >= 0; id = another_[static_cast<std::size_t>(id)]) {
      mask[static_cast<std::size_t>(id) / 64] |= std::uint64_t{1} << id % 64;
    }
    ++i;
  }
}

}  // namespace mpitron::inference
