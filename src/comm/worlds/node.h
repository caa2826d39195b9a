#pragma once
#include <map>
#include <string>
#include <vector>

#include "comm/shared/shared_memory.h"
#include "comm/shared/shared_table.h"
#include "comm/watch/flight_recorder.h"

namespace mpitron::comm {

/// Facts by which the others of a node find a process' memory.
struct NodeMember {
  Index rank;  // of the world
  pid_t process;
  int arena;    // descriptors in that process
  int segment;  // of the node's first member
  std::size_t arena_bytes;
};

/// Sees the processes of one node as one of them. Each has an arena (the memory of its tensors),
/// which all have mapped, so every byte of a tensor is at an offset that all know; it begins with
/// the process' flight ring. The first member's segment holds the tables of the groups.
class Node final : public AddressSpaces {
 public:
  /// This process' part: an arena as large as the machine's memory (reserved, not taken), and the
  /// segment, which only the first member's is used of.
  explicit Node(Index rank);

  const NodeMember& self() const { return self_; }
  /// Maps the others' memory; false where the system forbids it (then nothing of the node is used).
  bool connect(const std::vector<NodeMember>& members);
  bool contains(Index rank) const { return arenas_.contains(rank); }

  /// Returns the table of a group within the node, made by whoever comes first.
  SharedTable table(const std::string& name, const std::vector<Index>& ranks);
  /// Returns the ring in the arena of `rank`, which is a member of the node.
  FlightRing& ring(Index rank) const;
  /// Returns the node's mark of who reports a failure: see Watchdog.
  std::atomic<int>& failure_reporter() const;

  /// Makes memory for host tensors that the other members reach.
  std::unique_ptr<device::Allocator> make_allocator() const;

  bool reachable(const void* memory) const override { return arena_->contains(memory); }
  device::Allocator& staging() override { return *staging_; }
  std::uintptr_t publish(const void* memory) override;
  void* reach(Index rank, std::uintptr_t address) override;
  void check_alive() override {}

 private:
  struct Directory;
  Directory& directory() const;

  std::shared_ptr<SharedMemory> arena_;
  std::shared_ptr<SharedMemory> segment_;
  std::shared_ptr<std::size_t> taken_ = std::make_shared<std::size_t>(sizeof(FlightRing));
  std::unique_ptr<device::Allocator> staging_;
  NodeMember self_;
  std::map<Index, std::shared_ptr<SharedMemory>> arenas_;  // by world rank
};

}  // namespace mpitron::comm
