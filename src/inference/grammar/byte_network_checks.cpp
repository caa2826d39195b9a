#include <algorithm>
#include <utility>

#include "inference/grammar/byte_network.h"
#include "utils/error.h"

// Checks of a network. Every state that cannot reach an end is dropped, so that an answer never
// walks into a dead end; rules that begin with themselves are refused.

namespace mpitron::inference {

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
