#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comm/groups/group.h"
#include "comm/groups/request.h"
#include "comm/shared/shared_memory.h"

namespace mpitron::comm {

inline constexpr auto kAcquire = std::memory_order_acquire;
inline constexpr auto kRelease = std::memory_order_release;

/// Facts that a member tells the others of one operation. Plain data: it lies in memory that all
/// members see, perhaps at different addresses.
struct Posting {
  CollectiveKind kind;
  DType dtype;
  Reduction reduction;
  Index peer;
  Index numel;  // of the input, or of the output where there is no input
  std::uintptr_t
      data;  // what the others read (all_reduce: and write), as AddressSpaces publishes it
};

/// Table where the members of one group meet: for each member a ring of postings, counters of what
/// it has posted and finished, and a ring for each pair of sender and receiver. A view of zeroed
/// memory that all members share; lock-free, so that it works between processes.
class SharedTable {
 public:
  static constexpr Index kDepth = 16;  // collectives that may be under way at once

  static std::size_t bytes(Index members);
  SharedTable(void* memory, Index members)
      : memory_(static_cast<std::byte*>(memory)), members_(members) {}

  /// Count the collectives that `member` has posted, and has done its part of.
  std::atomic<std::uint64_t>& posted(Index member) const { return counters(member).first; }
  std::atomic<std::uint64_t>& finished(Index member) const { return counters(member).second; }
  Posting& posting(std::uint64_t sequence, Index member) const;
  /// Elements that `member` sends to each other one in an all_to_all: [members].
  Index* counts(std::uint64_t sequence, Index member) const;

  /// Count the sends of `from` to `to` that were posted, and that the receiver has copied.
  std::atomic<std::uint64_t>& sent(Index from, Index to) const {
    return channel(from, to).counters.first;
  }
  std::atomic<std::uint64_t>& received(Index from, Index to) const {
    return channel(from, to).counters.second;
  }
  Posting& message(std::uint64_t sequence, Index from, Index to) const {
    return channel(from, to).ring[sequence % kDepth];
  }

 private:
  struct alignas(64) Counters {
    std::atomic<std::uint64_t> first;
    alignas(64) std::atomic<std::uint64_t> second;
  };
  struct Channel {
    Counters counters;
    Posting ring[kDepth];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  Counters& counters(Index member) const { return reinterpret_cast<Counters*>(memory_)[member]; }
  Channel& channel(Index from, Index to) const;

  std::byte* memory_;
  Index members_;
};

/// State that an operation of a shared group works with; the group keeps it alive.
struct SharedMembers {
  const Group& group;
  SharedTable table;
  AddressSpaces& spaces;
  Witness* witness;

  /// Returns the memory that `member` published in this posting of its own.
  std::byte* reach(Index member, const Posting& posting) const {
    return static_cast<std::byte*>(spaces.reach(group.world_rank(member), posting.data));
  }
};

}  // namespace mpitron::comm
