#pragma once

#include <cstdint>
#include <vector>

#include "device/tensor_view.h"

namespace mpitron::comm {

using device::ConstTensorView;
using device::TensorView;

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  barrier,
  send,
  receive,
};
const char* name_of(CollectiveKind kind);

enum class Reduction : std::uint8_t { sum, maximum, minimum };

/// One member's side of an operation of a group; all memory is contiguous.
struct Request {
  CollectiveKind kind = CollectiveKind::barrier;
  ConstTensorView input = {};
  TensorView output = {};
  Reduction reduction = Reduction::sum;
  Index peer = 0;  // group rank: root of a broadcast, other end of a send or receive
  // all_to_all: elements to and from each member
  std::vector<Index> input_counts = {};
  std::vector<Index> output_counts = {};
  Index label = 0;  // of a message, equal at both ends: for records, nobody looks at it
};

/// Numbers what this rank starts in a group: collectives in one row, sends to and receives from
/// each member in rows of their own. All members start what belongs together in the same order,
/// so it has the same number everywhere.
class SequenceNumbers {
 public:
  explicit SequenceNumbers(Index members)
      : sends_(static_cast<std::size_t>(members)), receives_(static_cast<std::size_t>(members)) {}

  /// Messages are numbered for each peer and direction, everything else once for the group.
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
