#pragma once
#include <span>

#include "inference/grammar/pattern.h"

namespace mpitron::inference {

/// Holds a grammar as states with edges: bytes, nothing, or a rule that is passed through on the
/// way. From every state that can be reached the end can be reached.
class ByteNetwork {
 public:
  /// Error(data) where nothing fits the grammar, where it is too large, and where a rule holds
  /// itself with nothing in front.
  explicit ByteNetwork(const Grammar& grammar);

  struct Edge {
    enum class Kind : std::uint8_t { bytes, empty, rule };
    Kind kind;
    std::int32_t target;
    std::int32_t what;  // a set of bytes, or a rule
  };
  struct Rule {
    std::int32_t begin, end;
  };

  std::span<const Edge> edges(std::int32_t state) const {
    return edges_[static_cast<std::size_t>(state)];
  }
  const Rule& rule(std::int32_t number) const { return rules_[static_cast<std::size_t>(number)]; }
  const ByteSet& set(std::int32_t number) const { return sets_[static_cast<std::size_t>(number)]; }
  /// Tells whether a state is the end of a rule.
  bool is_end(std::int32_t state) const { return is_end_[static_cast<std::size_t>(state)]; }
  std::size_t states() const { return edges_.size(); }

 private:
  std::int32_t add_state();
  void add_edge(std::int32_t from, Edge edge);
  std::int32_t add(const Pattern& pattern, std::int32_t from);
  std::int32_t add_repeat(const Pattern& pattern, std::int32_t from);

  /// Says for each state whether its rule's end can be reached, and for each rule whether its end
  /// can from its beginning: without any byte, where `without_bytes`.
  struct Reach {
    std::vector<bool> states, rules;
  };
  Reach reach_ends(bool without_bytes) const;
  void drop_dead_ends();
  void refuse_left_recursion() const;

  std::vector<std::vector<Edge>> edges_;
  std::vector<bool> is_end_;
  std::vector<ByteSet> sets_;
  std::vector<Rule> rules_;
};

}  // namespace mpitron::inference
