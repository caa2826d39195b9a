#include "inference/grammar/byte_automaton.h"

#include <algorithm>
#include <unordered_set>

#include "utils/text/hash.h"

// A recursive network has no finite automaton, so a state is a set of places with stacks of the
// rules to return to. Stacks are shared as linked nodes and numbered: equal sets of places are one
// state, whose edges are computed once.

namespace mpitron::inference {
namespace {

std::uint64_t joined(std::int32_t high, std::int32_t low) {
  return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
}

}  // namespace

ByteAutomaton::ByteAutomaton(std::shared_ptr<const ByteNetwork> network)
    : network_(std::move(network)) {
  state_of({{network_->rule(0).begin, -1}});
}

std::int32_t ByteAutomaton::push(std::int32_t behind, std::int32_t below) {
  const auto [place, is_new] =
      stack_of_.try_emplace(joined(behind, below), static_cast<std::int32_t>(stacks_.size()));
  if (is_new) {
    stacks_.push_back({behind, below});
  }
  return place->second;
}

/// Adds what follows a place without a byte; returns whether the text may end there.
bool ByteAutomaton::enter(const Place& place, std::vector<Place>& open) {
  for (const ByteNetwork::Edge& edge : network_->edges(place.state)) {
    if (edge.kind == ByteNetwork::Edge::Kind::empty) {
      open.push_back({edge.target, place.stack});
    } else if (edge.kind == ByteNetwork::Edge::Kind::rule) {
      open.push_back({network_->rule(edge.what).begin, push(edge.target, place.stack)});
    }
  }
  if (!network_->is_end(place.state)) {
    return false;
  }
  if (place.stack >= 0) {
    const Stack& stack = stacks_[static_cast<std::size_t>(place.stack)];
    open.push_back({stack.behind, stack.below});
  }
  return place.stack < 0;
}

ByteAutomaton::State ByteAutomaton::state_of(std::vector<Place> open) {
  Known known;
  std::unordered_set<std::uint64_t> seen;
  while (!open.empty() && known.places.size() < kMostPlaces) {
    const Place place = open.back();
    open.pop_back();
    if (!seen.insert(joined(place.state, place.stack)).second) {
      continue;
    }
    known.may_end |= enter(place, open);
    const auto edges = network_->edges(place.state);
    if (std::ranges::any_of(edges, [](const ByteNetwork::Edge& edge) {
          return edge.kind == ByteNetwork::Edge::Kind::bytes;
        })) {
      known.places.push_back(place);
    }
  }
  if (known.places.empty() && !known.may_end) {
    return kDead;
  }
  std::ranges::sort(known.places);
  const std::string_view bytes(reinterpret_cast<const char*>(known.places.data()),
                               known.places.size() * sizeof(Place));
  const std::uint64_t hash = hash64(bytes, known.may_end ? 1 : 0);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found) {
    const Known& other = states_[static_cast<std::size_t>(found->second)];
    if (other.may_end == known.may_end && other.places == known.places) {
      return found->second;
    }
  }
  const auto number = static_cast<State>(states_.size());
  by_hash_.emplace(hash, number);
  places_ += known.places.size();
  states_.push_back(std::move(known));
  return number;
}

ByteAutomaton::State ByteAutomaton::next(State state, unsigned char byte) {
  const auto index = static_cast<std::size_t>(state);
  if (states_[index].next.empty()) {
    states_[index].next.assign(256, kUnknown);
  }
  if (const State known = states_[index].next[byte]; known != kUnknown) {
    return known;
  }
  std::vector<Place> open;
  for (const Place& place : states_[index].places) {
    for (const ByteNetwork::Edge& edge : network_->edges(place.state)) {
      if (edge.kind == ByteNetwork::Edge::Kind::bytes && network_->set(edge.what).has(byte)) {
        open.push_back({edge.target, place.stack});
      }
    }
  }
  const State to = open.empty() ? kDead : state_of(std::move(open));
  states_[index].next[byte] = to;
  return to;
}

}  // namespace mpitron::inference
