#pragma once
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "inference/grammar/byte_network.h"

namespace mpitron::inference {

/// Walks a network byte by byte: its states are made as they are met and remembered. A state is the
/// set of places where the network may be, each with the rules that it has yet to leave.
class ByteAutomaton {
 public:
  using State = std::int32_t;
  static constexpr State kDead = -1;

  explicit ByteAutomaton(std::shared_ptr<const ByteNetwork> network);

  State start() const { return 0; }
  /// Returns the state behind a byte; kDead where the byte may not follow. Of very many places the
  /// first are kept: the language becomes smaller, and still every state leads to an end.
  State next(State state, unsigned char byte);
  /// Tells whether the text may end here.
  bool may_end(State state) const { return states_[static_cast<std::size_t>(state)].may_end; }
  /// Tells whether the text must end here.
  bool must_end(State state) const {
    return states_[static_cast<std::size_t>(state)].places.empty();
  }
  /// Tells whether it has made so many states that a new one should take its place.
  bool full() const {
    return states_.size() > most_states_ || stacks_.size() > most_stacks_ || places_ > most_places_;
  }
  /// Keeps what it has made so far: it is full with twice as much at the earliest.
  void make_room() {
    most_states_ = std::max(most_states_, 2 * states_.size());
    most_stacks_ = std::max(most_stacks_, 2 * stacks_.size());
    most_places_ = std::max(most_places_, 2 * places_);
  }
  std::size_t states() const { return states_.size(); }
  std::size_t places(State state) const {
    return states_[static_cast<std::size_t>(state)].places.size();
  }

 private:
  /// Of a state: counts within counts would have a server walk for seconds behind each token.
  static constexpr std::size_t kMostPlaces = 500;
  static constexpr State kUnknown = -2;

  struct Place {
    std::int32_t state, stack;
    friend bool operator==(const Place&, const Place&) = default;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Known {
    std::vector<Place> places;  // with edges of bytes, in order
    bool may_end = false;
    std::vector<State> next;  // by byte; empty until it is asked for
  };
  struct Stack {
    std::int32_t behind;  // where the network goes on
    std::int32_t below;   // -1: nothing
  };

  std::int32_t push(std::int32_t behind, std::int32_t below);
  /// Returns the state of these places and of all that can be reached from them without a byte.
  State state_of(std::vector<Place> open);
  bool enter(const Place& place, std::vector<Place>& open);

  std::shared_ptr<const ByteNetwork> network_;
  std::vector<Known> states_;
  std::unordered_multimap<std::uint64_t, State> by_hash_;
  std::vector<Stack> stacks_;
  std::size_t places_ = 0;  // of all states
  std::size_t most_states_ = 20'000, most_stacks_ = 1'000'000, most_places_ = 8'000'000;
  std::unordered_map<std::uint64_t, std::int32_t> stack_of_;
};

}  // namespace mpitron::inference
