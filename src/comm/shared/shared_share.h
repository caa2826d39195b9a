#pragma once
#include <cstdint>
#include <vector>

#include "comm/shared/shared_table.h"

namespace mpitron::comm {

/// Work of a rank in a collective that all members have posted: of an all-reduce, a piece of the
/// sum, stored to every member; of a reduce-scatter, its part of the sum; of all others, copies of
/// what it receives.
class SharedShare {
 public:
  SharedShare() = default;  // nothing
  SharedShare(const SharedMembers& members, const Request& request, std::uint64_t sequence);

  bool done() const { return inputs_.empty() ? copies_.empty() : begin_ == end_; }
  /// Does a few MiB of what is left, so that progress between two kernels is short.
  void step();

 private:
  struct Copy {
    std::byte* to;
    const std::byte* from;
    Index bytes;
  };
  struct Plan;

  void add_copy(std::byte* to, const std::byte* from, Index bytes);
  Index reduce_some(Index budget);
  Index copy_some(Index budget);

  // What is left: elements of a reduction, or copies.
  DType dtype_ = DType::f32;
  Reduction reduction_ = Reduction::sum;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  Index begin_ = 0;
  Index end_ = 0;
  std::vector<Copy> copies_;
  Index copied_bytes_ = 0;  // of all copies
};

}  // namespace mpitron::comm
