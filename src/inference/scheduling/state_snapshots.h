#pragma once
#include <list>
#include <optional>
#include <unordered_map>

#include "utils/numbers/shape.h"
#include "utils/text/hash.h"

namespace mpitron::inference {

/// Which places of an engine hold what layers carry behind beginnings of texts, each found by the
/// key of the block that the beginning ends with. Where all places are taken, the next one takes
/// that of who was not used for the longest time.
class StateSnapshots {
 public:
  /// Places first .. first + count - 1.
  StateSnapshots(Index first, Index count);

  /// How likely others begin where a beginning ends.
  enum class Use { likely, passing };

  bool has(const Hash128& key) const { return known_.contains(key); }
  /// Returns the place of states, which are the last used now. They must be known.
  Index use(const Hash128& key);
  /// Returns a place for states that are known by `key` from now on; nothing where they are known
  /// already, which counts as a use, or where there are no places. Passing ones are the first to
  /// go until they are used.
  std::optional<Index> keep(const Hash128& key, Use how);
  void forget(const Hash128& key);
  /// Forgets all of them.
  void clear();
  Index kept() const { return static_cast<Index>(known_.size()); }

 private:
  struct Snapshot {
    Hash128 key;
    Index place;
  };
  struct HashOfKey {
    std::size_t operator()(const Hash128& key) const { return key.high ^ key.low; }
  };

  std::vector<Index> free_;
  std::list<Snapshot> by_use_;  // those to be given up first in front
  std::unordered_map<Hash128, std::list<Snapshot>::iterator, HashOfKey> known_;
};

}  // namespace mpitron::inference
