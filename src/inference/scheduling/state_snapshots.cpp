#include "inference/scheduling/state_snapshots.h"

#include "utils/check.h"

// States of beginnings of texts in the order in which they are given up. A long text passes many
// positions that nobody else begins at: what it leaves there goes in front of the list, so it takes
// the place of its own earlier ones and not of those that are used.

namespace mpitron::inference {

StateSnapshots::StateSnapshots(Index first, Index count) {
  free_.reserve(static_cast<std::size_t>(count));
  for (Index place = first + count - 1; place >= first; --place) {
    free_.push_back(place);
  }
}

Index StateSnapshots::use(const Hash128& key) {
  const auto found = known_.find(key);
  MPITRON_CHECK(found != known_.end(), key.hex());
  by_use_.splice(by_use_.end(), by_use_, found->second);
  return found->second->place;
}

std::optional<Index> StateSnapshots::keep(const Hash128& key, Use how) {
  if (has(key)) {
    use(key);
    return std::nullopt;
  }
  if (free_.empty() && !by_use_.empty()) {
    forget(Hash128(by_use_.front().key));
  }
  if (free_.empty()) {
    return std::nullopt;
  }
  const Index place = free_.back();
  free_.pop_back();
  const auto before = how == Use::likely ? by_use_.end() : by_use_.begin();
  known_.emplace(key, by_use_.insert(before, {key, place}));
  return place;
}

void StateSnapshots::forget(const Hash128& key) {
  const auto found = known_.find(key);
  if (found == known_.end()) {
    return;
  }
  free_.push_back(found->second->place);
  by_use_.erase(found->second);
  known_.erase(found);
}

void StateSnapshots::clear() {
  while (!by_use_.empty()) {
    forget(Hash128(by_use_.front().key));
  }
}

}  // namespace mpitron::inference
