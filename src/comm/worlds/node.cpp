#include "comm/worlds/node.h"

#include <algorithm>

#include <unistd.h>

#include "utils/check.h"
#include "utils/system/machine.h"
#include "utils/text/hash.h"

// Maps the memory that ranks of one machine share: an arena of each rank for its tensors, and one
// segment with the tables of groups, the rings of the watchdog and a mark of who reports a failure.

namespace mpitron::comm {
namespace {

constexpr std::size_t kSegmentBytes = std::size_t{16} << 30;  // reserved; groups touch little of it

/// Names a group by a hash that all its members compute alone; 0 marks a free slot.
std::uint64_t key_of(const std::string& name, const std::vector<Index>& ranks) {
  const std::string_view bytes(reinterpret_cast<const char*>(ranks.data()),
                               ranks.size() * sizeof(Index));
  return std::max<std::uint64_t>(1, hash64(name, hash64(bytes)));
}

}  // namespace

/// The start of the segment: an open-addressed table from groups to the places of their tables. All
/// zero at first, and never locked, because a member may be killed at any time.
struct Node::Directory {
  static constexpr std::uint64_t kSlots = 1 << 16;
  struct Slot {
    std::atomic<std::uint64_t> key;
    std::atomic<std::uint64_t> place;
  };

  std::atomic<int> failure_reporter;
  std::atomic<std::uint64_t> used;  // bytes behind the directory
  Slot slots[kSlots];

  /// Returns the offset of the group's table, reserved where there is none yet. Two members that
  /// come at once race for a slot's key by compare-and-swap; the loser uses the winner's slot.
  std::uint64_t find(std::uint64_t key, std::size_t bytes) {
    for (std::uint64_t probe = 0; probe < kSlots; ++probe) {
      Slot& slot = slots[(key + probe) % kSlots];
      std::uint64_t there = 0;
      if (slot.key.compare_exchange_strong(there, key)) {
        const std::uint64_t unit = (bytes + 63) / 64 * 64;
        const std::uint64_t place = (sizeof(Directory) + 63) / 64 * 64 + used.fetch_add(unit);
        MPITRON_CHECK(place + unit <= kSegmentBytes, place, unit);
        slot.place.store(place);
        return place;
      }
      if (there == key) {
        while (slot.place.load() == 0) {
          ::usleep(1);
        }
        return slot.place.load();
      }
    }
    throw InternalError("the node's table of groups is full");
  }
};

/// Reserves as much address space as the machine has memory; pages are taken only where they are
/// touched.
Node::Node(Index rank)
    : arena_(SharedMemory::create(static_cast<std::size_t>(machine_memory()))),
      segment_(SharedMemory::create(kSegmentBytes)) {
  staging_ = make_allocator();
  self_ = {.rank = rank,
           .process = ::getpid(),
           .arena = arena_->descriptor(),
           .segment = segment_->descriptor(),
           .arena_bytes = arena_->bytes()};
  arenas_[rank] = arena_;
}

Node::Directory& Node::directory() const {
  return *reinterpret_cast<Directory*>(segment_->data());
}

/// Maps the members' memory; false where a rank's memory cannot be opened (another user or
/// namespace): then the node sends messages.
bool Node::connect(const std::vector<NodeMember>& members) {
  for (const NodeMember& member : members) {
    if (member.rank != self_.rank) {
      arenas_[member.rank] = SharedMemory::open(member.process, member.arena, member.arena_bytes);
    }
  }
  const NodeMember& first = members.front();
  if (first.rank != self_.rank) {
    segment_ = SharedMemory::open(first.process, first.segment, kSegmentBytes);
  }
  return segment_ != nullptr && std::all_of(arenas_.begin(), arenas_.end(),
                                            [](const auto& a) { return a.second != nullptr; });
}

/// Finds the table of a group, which its first member to ask reserves in the segment.
SharedTable Node::table(const std::string& name, const std::vector<Index>& ranks) {
  const auto members = static_cast<Index>(ranks.size());
  const std::uint64_t place = directory().find(key_of(name, ranks), SharedTable::bytes(members));
  return {segment_->data() + place, members};
}

/// Finds the ring of a rank, which lies at the start of its arena.
FlightRing& Node::ring(Index rank) const {
  return *reinterpret_cast<FlightRing*>(arenas_.at(rank)->data());
}

std::atomic<int>& Node::failure_reporter() const {
  return directory().failure_reporter;
}

std::unique_ptr<device::Allocator> Node::make_allocator() const {
  return std::make_unique<device::CachingHostAllocator>(
      std::make_unique<SharedPages>(arena_, taken_));
}

/// Makes an address that others can use: the distance from the start of this rank's arena.
std::uintptr_t Node::publish(const void* memory) {
  return static_cast<std::uintptr_t>(static_cast<const std::byte*>(memory) - arena_->data());
}

void* Node::reach(Index rank, std::uintptr_t address) {
  return arenas_.at(rank)->data() + address;
}

}  // namespace mpitron::comm
