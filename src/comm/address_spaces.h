#pragma once
#include <cstdint>

#include "device/allocator.h"

namespace mpitron::comm {

/// How members reach each other's memory.
class AddressSpaces {
 public:
  virtual ~AddressSpaces() = default;
  /// Whether the others can reach this memory; if not, it is copied through `staging`.
  virtual bool reachable(const void* memory) const = 0;
  virtual device::Allocator& staging() = 0;
  /// A number by which the others reach this rank's (reachable) memory.
  virtual std::uintptr_t publish(const void* memory) = 0;
  /// What world rank `rank` published.
  virtual void* reach(Index rank, std::uintptr_t address) = 0;
  /// Throws where the job is being ended, so that nobody waits for a member that is gone.
  virtual void check_alive() = 0;
};

}  // namespace mpitron::comm
