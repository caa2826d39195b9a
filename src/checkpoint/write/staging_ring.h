#pragma once
#include <atomic>
#include <cstddef>
#include <memory>

#include "device/allocator.h"
#include "utils/numbers/shape.h"

namespace mpitron::checkpoint {

/// A fixed piece of memory that one thread fills and another empties, in the same order.
class StagingRing {
 public:
  struct Block {
    std::byte* data = nullptr;  // null: there is no room now
    Index end = 0;              // what `release` wants
  };

  /// Makes a ring without memory: the capacity is 0, nothing is staged.
  StagingRing() = default;
  /// Takes the memory. All pages are touched here, so that filling does not wait for the system.
  explicit StagingRing(Index capacity);

  Index capacity() const { return capacity_; }
  /// Takes `bytes` contiguous bytes, aligned to pages; at most half of the capacity, so that there
  /// is room once enough was released.
  Block allocate(Index bytes);
  /// Gives back this block and all before it; called by the other thread.
  void release(const Block& block) { released_.store(block.end, std::memory_order_release); }

 private:
  std::unique_ptr<device::PageSource> pages_;
  std::byte* memory_ = nullptr;
  Index capacity_ = 0;
  // Bytes since the beginning, with those that were left out at the end of the memory.
  Index allocated_ = 0;
  std::atomic<Index> released_ = 0;
};

}  // namespace mpitron::checkpoint
