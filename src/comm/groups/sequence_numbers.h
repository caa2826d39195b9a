#pragma once
#include <cstdint>
#include <vector>

#include "comm/groups/request.h"

namespace mpitron::comm {

/// Numbers what this rank starts in a group: collectives in one row, sends to and receives from
/// each member in rows of their own. All members start what belongs together in the same order,
/// so it has the same number everywhere.
class SequenceNumbers {
 public:
  explicit SequenceNumbers(Index members)
      : sends_(static_cast<std::size_t>(members)), receives_(static_cast<std::size_t>(members)) {}

  std::uint64_t next(const Request& request) {
    const auto peer = static_cast<std::size_t>(request.peer);
    switch (request.kind) {
      case CollectiveKind::send:
        return sends_[peer]++;
      case CollectiveKind::receive:
        return receives_[peer]++;
      default:
        return collectives_++;
    }
  }

 private:
  std::uint64_t collectives_ = 0;
  std::vector<std::uint64_t> sends_, receives_;
};

}  // namespace mpitron::comm
