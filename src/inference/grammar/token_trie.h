#pragma once
#include <string>
#include <vector>

#include "inference/grammar/byte_automaton.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

using tokenizers::TokenId;

/// Keeps the texts of a vocabulary as a tree of bytes, so that what may follow is found for all
/// tokens that begin alike at once. Ids without a text (special tokens) are in no mask.
class TokenTrie {
 public:
  explicit TokenTrie(const tokenizers::Tokenizer& tokenizer);

  /// Returns the bytes that an id adds to a text.
  const std::string& bytes(TokenId id) const { return bytes_[static_cast<std::size_t>(id)]; }
  /// Sets the bits of all ids whose bytes may follow a state; `mask` has mask_words() words of 0.
  void allow(ByteAutomaton& automaton, ByteAutomaton::State state,
             std::vector<std::uint64_t>& mask) const;
  std::size_t mask_words() const { return (bytes_.size() + 63) / 64; }
  std::size_t nodes() const { return nodes_.size(); }

 private:
  struct Node {
    std::uint32_t end;  // number of the first node that is not below it
    TokenId token;      // whose text ends here; -1: none
    std::uint16_t depth;
    unsigned char byte;
  };
  void add_nodes(std::span<const TokenId> sorted, std::size_t depth);

  std::vector<std::string> bytes_;
  std::vector<Node> nodes_;       // each before those below it, which follow at once
  std::vector<TokenId> another_;  // id with the same text; -1: none
  std::size_t deepest_ = 0;
};

}  // namespace mpitron::inference
