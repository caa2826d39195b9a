#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "utils/shape.h"

namespace mpitron::device {

struct AllocatorStatistics {
  Index bytes_in_use = 0;
  Index bytes_reserved = 0;  // taken from the system, never given back before the end
  Index high_water = 0;      // of bytes_in_use
  Index system_allocations =
      0;  // how often memory was taken from the system: constant in a steady step
};

/// Memory of one device, handed out in stream order: a released block may be handed out again at
/// once.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least `bytes` bytes, aligned to 64; `capacity` gets the real size, which `release` must be
  /// told.
  virtual void* allocate(std::size_t bytes, std::size_t& capacity) = 0;
  virtual void release(void* block, std::size_t capacity) noexcept = 0;
  virtual AllocatorStatistics statistics() const = 0;
};

/// Where a host allocator takes its memory from.
class PageSource {
 public:
  virtual ~PageSource() = default;
  /// `bytes` zeroed bytes, which stay until the source ends, aligned to 4 KiB; from 2 MiB on
  /// aligned to 2 MiB, on huge pages where the system has them. Null where none are left.
  virtual void* take(std::size_t bytes) = 0;
};
/// Memory of this process alone.
std::unique_ptr<PageSource> private_pages();

/// Keeps every block for the next request of its size class, so that a steady step takes nothing
/// from the system (never giving large buffers back is worth 1.4x of a step). Blocks of 2 MiB and
/// more lie on huge pages where the system has them. Used by one thread.
class CachingHostAllocator final : public Allocator {
 public:
  explicit CachingHostAllocator(std::unique_ptr<PageSource> pages = private_pages())
      : pages_(std::move(pages)) {}
  CachingHostAllocator(const CachingHostAllocator&) = delete;
  CachingHostAllocator& operator=(const CachingHostAllocator&) = delete;

  void* allocate(std::size_t bytes, std::size_t& capacity) override;
  void release(void* block, std::size_t capacity) noexcept override;
  AllocatorStatistics statistics() const override { return statistics_; }

 private:
  struct SizeClass {
    std::size_t capacity;
    std::vector<void*> free;
  };
  SizeClass& size_class(std::size_t capacity);

  std::vector<SizeClass> classes_;  // sorted by capacity: tens of them, found by bisection
  std::unique_ptr<PageSource> pages_;
  AllocatorStatistics statistics_;
};

}  // namespace mpitron::device
