#include "inference/grammar/byte_network.h"

#include <algorithm>
#include <utility>

#include "utils/error.h"

// Thompson's construction from patterns to states and edges, with rules as calls. Afterwards every
// state that cannot reach an end is dropped, so that an answer never walks into a dead end.

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

/// Spreads reachability backwards from the ends, state by state; a rule's edge opens once the
/// rule's own beginning has reached its end.
ByteNetwork::Reach ByteNetwork::reach_ends(bool without_bytes) const {
  struct Incoming {
    std::int32_t from, rule;  // rule -1: none
  };
  std::vector<std::vector<Incoming>> incoming(edges_.size());
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> callers(rules_.size());
  for (std::size_t from = 0; from < edges_.size(); ++from) {
    for (const Edge& edge : edges_[from]) {
      const auto state = static_cast<std::int32_t>(from);
      if (edge.kind == Edge::Kind::rule) {
        callers[static_cast<std::size_t>(edge.what)].emplace_back(state, edge.target);
        incoming[static_cast<std::size_t>(edge.target)].push_back({state, edge.what});
      } else if (edge.kind == Edge::Kind::empty || !without_bytes) {
        incoming[static_cast<std::size_t>(edge.target)].push_back({state, -1});
      }
    }
  }
  Reach reach{std::vector<bool>(edges_.size()), std::vector<bool>(rules_.size())};
  std::vector<std::int32_t> fresh;
  const auto mark = [&](std::int32_t state) {
    if (!reach.states[static_cast<std::size_t>(state)]) {
      reach.states[static_cast<std::size_t>(state)] = true;
      fresh.push_back(state);
    }
  };
  std::vector<std::vector<std::size_t>> rules_at(edges_.size());
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    rules_at[static_cast<std::size_t>(rules_[i].begin)].push_back(i);
    mark(rules_[i].end);
  }
  while (!fresh.empty()) {
    const std::int32_t state = fresh.back();
    fresh.pop_back();
    for (const Incoming& edge : incoming[static_cast<std::size_t>(state)]) {
      if (edge.rule < 0 || reach.rules[static_cast<std::size_t>(edge.rule)]) {
        mark(edge.from);
      }
    }
    for (const std::size_t rule : rules_at[static_cast<std::size_t>(state)]) {
      reach.rules[rule] = true;
      for (const auto& [from, target] : callers[rule]) {
        if (reach.states[static_cast<std::size_t>(target)]) {
          mark(from);
        }
      }
    }
  }
  return reach;
}

void ByteNetwork::drop_dead_ends() {
  const Reach reach = reach_ends(false);
  if (!reach.rules.front()) {
    throw_data("no text fits it");
  }
  for (std::vector<Edge>& edges : edges_) {
    std::erase_if(edges, [&](const Edge& edge) {
      return !reach.states[static_cast<std::size_t>(edge.target)] ||
             (edge.kind == Edge::Kind::rule && !reach.rules[static_cast<std::size_t>(edge.what)]);
    });
  }
}

/// Refuses left recursion: it follows from each rule's beginning what can be passed without a byte,
/// since a rule that meets itself there would be entered again and again.
void ByteNetwork::refuse_left_recursion() const {
  const Reach empty = reach_ends(true);
  std::vector<std::vector<std::int32_t>> first(rules_.size());
  std::vector<std::size_t> seen_for(edges_.size(), rules_.size());
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    std::vector<std::int32_t> open = {rules_[i].begin};
    while (!open.empty()) {
      const auto state = static_cast<std::size_t>(open.back());
      open.pop_back();
      if (std::exchange(seen_for[state], i) == i) {
        continue;
      }
      for (const Edge& edge : edges_[state]) {
        const bool is_rule = edge.kind == Edge::Kind::rule;
        if (is_rule) {
          first[i].push_back(edge.what);
        }
        if (edge.kind == Edge::Kind::empty ||
            (is_rule && empty.rules[static_cast<std::size_t>(edge.what)])) {
          open.push_back(edge.target);
        }
      }
    }
  }
  enum class Mark { fresh, open, done };
  std::vector<Mark> marks(rules_.size(), Mark::fresh);
  std::vector<std::pair<std::size_t, std::size_t>> path;  // rule, next of its first ones
  for (std::size_t root = 0; root < rules_.size(); ++root) {
    path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [rule, next] = path.back();
      if (marks[rule] == Mark::done || next == first[rule].size()) {
        marks[rule] = Mark::done;
        path.pop_back();
        continue;
      }
      marks[rule] = Mark::open;
      const auto called = static_cast<std::size_t>(first[rule][next++]);
      if (marks[called] == Mark::open) {
        throw_data("a part of it refers to itself with nothing in front");
      }
      if (marks[called] == Mark::fresh) {
        path.emplace_back(called, 0);
      }
    }
  }
}

}  // namespace mpitron::inference
