#include "comm/shared/shared_share.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "comm/groups/reduce.h"
#include "comm/groups/stream_copy.h"

// What one member does of a collective in shared memory: ranges of a sum that it computes, or
// copies that it makes. The work is done in steps of 4 MiB, between which other operations move on.

namespace mpitron::comm {
namespace {

constexpr Index kStepBytes = Index{4} << 20;

}  // namespace

/// Finds out where a share's data lies.
struct SharedShare::Plan {
  const SharedMembers& members;
  const Request& request;
  std::uint64_t sequence;
  SharedShare& share;

  Index rank() const { return members.group.rank(); }
  Index size() const { return members.group.size(); }
  Index element_size() const { return static_cast<Index>(size_of(share.dtype_)); }
  std::byte* output() const { return static_cast<std::byte*>(request.output.data); }
  std::byte* reach(Index member) const {
    return members.reach(member, members.table.posting(sequence, member));
  }

  /// Plans this member's part of the operation.
  void make() const {
    switch (request.kind) {
      case CollectiveKind::all_reduce:
        return all_reduce();
      case CollectiveKind::reduce_scatter:
        return reduce_scatter();
      case CollectiveKind::all_gather:
        return all_gather();
      case CollectiveKind::all_to_all:
        return all_to_all();
      case CollectiveKind::broadcast:
        return share.add_copy(output(), reach(request.peer),
                              rank() == request.peer ? 0 : request.output.bytes());
      default:
        return;
    }
  }

  /// Plans an all-reduce: of the sum of all inputs each member computes a range and stores it to
  /// all outputs.
  void all_reduce() const {
    for (Index member = 0; member < size(); ++member) {
      share.outputs_.push_back(reach(member));
    }
    share.inputs_.assign(share.outputs_.begin(), share.outputs_.end());
    // Pieces begin at multiples of a cache line, so that members do not write the same one.
    constexpr Index kUnit = 64;
    const Index n = request.output.numel();
    const Index piece = ((n + size() - 1) / size() + kUnit - 1) / kUnit * kUnit;
    share.begin_ = std::min(n, piece * rank());
    share.end_ = std::min(n, share.begin_ + piece);
  }

  /// Plans the sum of this member's part of all inputs.
  void reduce_scatter() const {
    share.end_ = request.output.numel();
    for (Index member = 0; member < size(); ++member) {
      share.inputs_.push_back(reach(member) + rank() * share.end_ * element_size());
    }
    share.outputs_ = {request.output.data};
  }

  /// Plans a gather: each member copies all inputs to their places in its own output.
  void all_gather() const {
    const Index bytes = request.input.bytes();
    for (Index member = 0; member < size(); ++member) {
      const std::byte* from =
          member == rank() ? static_cast<const std::byte*>(request.input.data) : reach(member);
      share.add_copy(output() + member * bytes, from, bytes);
    }
  }

  /// Pulls from each member the part that is for this one.
  void all_to_all() const {
    std::byte* to = output();
    for (Index member = 0; member < size(); ++member) {
      const Index* counts = members.table.counts(sequence, member);
      const Index skipped = std::accumulate(counts, counts + rank(), Index{0});
      const Index expected = request.output_counts[static_cast<std::size_t>(member)];
      MPITRON_CHECK(counts[rank()] == expected, members.group.name(), member, counts[rank()],
                    expected);
      share.add_copy(to, reach(member) + skipped * element_size(), expected * element_size());
      to += expected * element_size();
    }
  }
};

SharedShare::SharedShare(const SharedMembers& members, const Request& request,
                         std::uint64_t sequence)
    : dtype_(members.table.posting(sequence, members.group.rank()).dtype),
      reduction_(request.reduction) {
  Plan{members, request, sequence, *this}.make();
}

void SharedShare::add_copy(std::byte* to, const std::byte* from, Index bytes) {
  if (to != from && bytes > 0) {
    copies_.push_back({to, from, bytes});
    copied_bytes_ += bytes;
  }
}

void SharedShare::step() {
  for (Index budget = kStepBytes; budget > 0 && !done();) {
    budget -= inputs_.empty() ? copy_some(budget) : reduce_some(budget);
  }
}

/// Reduces at most `budget` bytes (of one input); returns how many.
Index SharedShare::reduce_some(Index budget) {
  const auto element_size = static_cast<Index>(size_of(dtype_));
  const Index end = std::min(end_, begin_ + std::max<Index>(1, budget / element_size));
  reduce_elements(inputs_, outputs_, begin_, end, dtype_, reduction_);
  return element_size * (end - std::exchange(begin_, end));
}

/// Copies at most `budget` bytes, so that a long copy lets other operations step in between.
Index SharedShare::copy_some(Index budget) {
  Copy& next = copies_.back();
  const Index bytes = std::min(budget, next.bytes);
  copy_part(next.to, next.from, bytes, copied_bytes_);
  next = {next.to + bytes, next.from + bytes, next.bytes - bytes};
  if (next.bytes == 0) {
    copies_.pop_back();
  }
  return bytes;
}

}  // namespace mpitron::comm
