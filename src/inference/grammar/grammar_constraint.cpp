#include "inference/grammar/grammar_constraint.h"

// Masks of tokens per state of the automaton. A mask is found by walking the tree of the
// vocabulary's texts along the automaton once, and kept: most answers meet few states. An automaton
// that has grown too large is replaced by a fresh one; answers that are under way carry over.

namespace mpitron::inference {

/// Constrains one answer. It keeps the ids taken, so that it finds its place again in a new
/// automaton.
class CompiledGrammar::Constraint : public TokenConstraint {
 public:
  Constraint(std::shared_ptr<CompiledGrammar> grammar, std::vector<TokenId> ends)
      : grammar_(std::move(grammar)), ends_(std::move(ends)) {}

  TokenMask allowed() override {
    const std::lock_guard lock(grammar_->mutex_);
    follow();
    mask_ = grammar_->mask_of(*walk_, state_);
    if (!walk_->automaton.may_end(state_)) {
      return *mask_;
    }
    with_ends_ = *mask_;
    for (const TokenId id : ends_) {
      if (static_cast<std::size_t>(id) / 64 < with_ends_.size()) {
        with_ends_[static_cast<std::size_t>(id) / 64] |= std::uint64_t{1} << id % 64;
      }
    }
    return with_ends_;
  }

  void take(TokenId id) override {
    const std::lock_guard lock(grammar_->mutex_);
    follow();
    taken_.push_back(id);
    step(id);
  }

  bool complete() const override { return walk_ != nullptr && walk_->automaton.must_end(state_); }

 private:
  void step(TokenId id) {
    ByteAutomaton::State state = state_;
    for (const char c : grammar_->tokens_->bytes(id)) {
      if (state >= 0) {
        state = walk_->automaton.next(state, static_cast<unsigned char>(c));
      }
    }
    state_ = state >= 0 ? state : state_;
  }

  void follow() {
    if (std::shared_ptr<Walk> current = grammar_->current(); current != walk_) {
      walk_ = std::move(current);
      state_ = walk_->automaton.start();
      for (const TokenId id : taken_) {
        step(id);
      }
      walk_->automaton.make_room();  // or a long answer would be walked again for every token
    }
  }

  std::shared_ptr<CompiledGrammar> grammar_;
  std::vector<TokenId> ends_;
  std::vector<TokenId> taken_;
  std::shared_ptr<Walk> walk_;
  ByteAutomaton::State state_ = 0;  // behind the last token taken
  Mask mask_;
  std::vector<std::uint64_t> with_ends_;
};

CompiledGrammar::CompiledGrammar(const Grammar& grammar, std::shared_ptr<const TokenTrie> tokens)
    : network_(std::make_shared<const ByteNetwork>(grammar)),
      tokens_(std::move(tokens)),
      walk_(std::make_shared<Walk>(network_)) {}

std::unique_ptr<TokenConstraint> CompiledGrammar::constrain(std::vector<TokenId> ends) {
  return std::make_unique<Constraint>(shared_from_this(), std::move(ends));
}

std::shared_ptr<CompiledGrammar::Walk> CompiledGrammar::current() {
  if (walk_->automaton.full()) {
    walk_ = std::make_shared<Walk>(network_);
  }
  return walk_;
}

CompiledGrammar::Mask CompiledGrammar::mask_of(Walk& walk, ByteAutomaton::State state) const {
  if (const auto found = walk.masks.find(state); found != walk.masks.end()) {
    return found->second;
  }
  auto mask = std::make_shared<std::vector<std::uint64_t>>(tokens_->mask_words());
  tokens_->allow(walk.automaton, state, *mask);
  if ((walk.masks.size() + 1) * tokens_->mask_words() * sizeof(std::uint64_t) > kMaskBytes) {
    walk.masks.clear();
  }
  walk.masks.emplace(state, mask);
  return mask;
}

}  // namespace mpitron::inference
