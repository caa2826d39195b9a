#pragma once
#include <mutex>

#include "inference/grammar/token_trie.h"
#include "inference/sampling/token_constraint.h"

namespace mpitron::inference {

/// Keeps a grammar ready for answers: its automaton and the masks of the states that were met,
/// shared by all answers. Any thread may call.
class CompiledGrammar : public std::enable_shared_from_this<CompiledGrammar> {
 public:
  /// Error(data): see ByteNetwork.
  CompiledGrammar(const Grammar& grammar, std::shared_ptr<const TokenTrie> tokens);

  /// Makes the constraint of one answer, which may end with one of `ends` where its text may end.
  std::unique_ptr<TokenConstraint> constrain(std::vector<TokenId> ends);

 private:
  class Constraint;
  using Mask = std::shared_ptr<const std::vector<std::uint64_t>>;
  static constexpr std::size_t kMaskBytes = std::size_t{64} << 20;  // of all masks together

  /// An automaton with its masks: replaced by a new one when it is full.
  struct Walk {
    explicit Walk(std::shared_ptr<const ByteNetwork> network) : automaton(std::move(network)) {}
    ByteAutomaton automaton;
    std::unordered_map<ByteAutomaton::State, Mask> masks;
  };
  Mask mask_of(Walk& walk, ByteAutomaton::State state) const;
  std::shared_ptr<Walk> current();

  std::shared_ptr<const ByteNetwork> network_;
  std::shared_ptr<const TokenTrie> tokens_;
  std::mutex mutex_;
  std::shared_ptr<Walk> walk_;
};

}  // namespace mpitron::inference
