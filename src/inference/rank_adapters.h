#pragma once
#include <functional>
#include <vector>

#include "comm/groups/group.h"
#include "inference/engine_interface.h"

namespace mpitron::inference {

/// Makes this rank's part of an adapter from a folder; its number is the same on all ranks.
using AdapterReader = std::function<AdapterHandle(const std::string& folder)>;

/// Reads a folder on all ranks of a group, which call it together. Error(data) on all of them where
/// one cannot: its message, with its number unless it is everybody's.
AdapterHandle read_together(comm::Group& all, const AdapterReader& read, const std::string& folder);

/// A rank's parts of the adapters that plans name by number. Those that are there from the start
/// stay; others may go when nobody has them any more.
class RankAdapters {
 public:
  /// Numbers 1, 2, .. in this order.
  explicit RankAdapters(std::vector<AdapterHandle> adapters);

  void add(AdapterHandle adapter);
  /// Lets go an adapter that was added.
  void drop(Index number);
  /// Numbers of added ones that nobody holds but this list.
  std::vector<Index> unused() const;
  /// Adapters by number - 1; null where there is none of the number.
  std::span<const AdapterHandle> by_number() const { return adapters_; }

 private:
  std::vector<AdapterHandle> adapters_;
  std::size_t stay_;
};

}  // namespace mpitron::inference
