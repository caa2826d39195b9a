#include "inference/grammar/byte_network.h"

#include "utils/error.h"

// Thompson's construction from patterns to states and edges, with rules as calls.

namespace mpitron::inference {
namespace {

constexpr std::size_t kMostStates = 400'000;

}  // namespace

ByteNetwork::ByteNetwork(const Grammar& grammar) {
  for (const Pattern& pattern : grammar.rules) {
    const std::int32_t begin = add_state();
    rules_.push_back({begin, add(pattern, begin)});
  }
  is_end_.resize(edges_.size());
  for (const Rule& rule : rules_) {
    is_end_[static_cast<std::size_t>(rule.end)] = true;
  }
  drop_dead_ends();
  refuse_left_recursion();
}

std::int32_t ByteNetwork::add_state() {
  if (edges_.size() >= kMostStates) {
    throw_data("it is too large: its automaton has more than {} states", kMostStates);
  }
  edges_.emplace_back();
  return static_cast<std::int32_t>(edges_.size()) - 1;
}

void ByteNetwork::add_edge(std::int32_t from, Edge edge) {
  edges_[static_cast<std::size_t>(from)].push_back(edge);
}

/// Adds what a pattern allows behind a state, and returns the state behind it.
std::int32_t ByteNetwork::add(const Pattern& pattern, std::int32_t from) {
  switch (pattern.kind()) {
    case Pattern::Kind::bytes: {
      const std::int32_t to = add_state();
      sets_.push_back(pattern.bytes());
      add_edge(from, {Edge::Kind::bytes, to, static_cast<std::int32_t>(sets_.size()) - 1});
      return to;
    }
    case Pattern::Kind::sequence:
      for (const Pattern& part : pattern.parts()) {
        from = add(part, from);
      }
      return from;
    case Pattern::Kind::choice: {
      const std::int32_t to = add_state();
      for (const Pattern& part : pattern.parts()) {
        const std::int32_t begin = add_state();
        add_edge(from, {Edge::Kind::empty, begin, 0});
        add_edge(add(part, begin), {Edge::Kind::empty, to, 0});
      }
      return to;
    }
    case Pattern::Kind::repeat:
      return add_repeat(pattern, from);
    default: {
      const std::int32_t to = add_state();
      add_edge(from, {Edge::Kind::rule, to, static_cast<std::int32_t>(pattern.number())});
      return to;
    }
  }
}

/// Unrolls a counted repeat: `least` copies one after the other, then a loop, or copies that may be
/// left out.
std::int32_t ByteNetwork::add_repeat(const Pattern& pattern, std::int32_t from) {
  const Pattern& part = pattern.parts().front();
  for (std::int64_t i = 0; i < pattern.least(); ++i) {
    from = add(part, from);
  }
  const std::int32_t to = add_state();
  if (pattern.most() == Pattern::kEndless) {
    const std::int32_t loop = add_state();
    add_edge(from, {Edge::Kind::empty, loop, 0});
    add_edge(add(part, loop), {Edge::Kind::empty, loop, 0});
    add_edge(loop, {Edge::Kind::empty, to, 0});
    return to;
  }
  for (std::int64_t i = pattern.least(); i < pattern.most(); ++i) {
    add_edge(from, {Edge::Kind::empty, to, 0});
    const std::int32_t begin = add_state();  // so that no edge leads back into it
    add_edge(from, {Edge::Kind::empty, begin, 0});
    from = add(part, begin);
  }
  add_edge(from, {Edge::Kind::empty, to, 0});
  return to;
}

}  // namespace mpitron::inference
