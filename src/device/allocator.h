#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "utils/error.h"
#include "utils/numbers/shape.h"

namespace mpitron::device {

struct AllocatorStatistics {
  Index bytes_in_use = 0;
  Index bytes_reserved = 0;  // taken from the system
  Index high_water = 0;      // of bytes_in_use
  Index system_allocations =
      0;  // how often memory was taken from the system: constant in a steady step
};

/// Memory of one device, handed out in stream order: a released block may be handed out again at
/// once.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// Returns at least `bytes` bytes, aligned to 64; `capacity` gets the real size, which `release`
  /// must be told.
  virtual void* allocate(std::size_t bytes, std::size_t& capacity) = 0;
  virtual void release(void* block, std::size_t capacity) noexcept = 0;
  virtual AllocatorStatistics statistics() const = 0;
  /// Returns where the owner of a block keeps notes on it: null where in the block itself, which
  /// the host can write; else in small blocks of this allocator.
  virtual Allocator* notes() { return nullptr; }
};

/// Source of a caching allocator's memory: the host's, or a device's.
class PageSource {
 public:
  virtual ~PageSource() = default;
  /// `bytes` bytes, which stay until they are given back or the source ends. Host memory is zero
  /// and aligned to 4 KiB; from 2 MiB on aligned to 2 MiB, on huge pages where the system has them.
  /// Device memory is aligned to 512 bytes. Null where none is left.
  virtual void* take(std::size_t bytes) = 0;
  /// Takes back what `take` gave, if it can: false where memory stays to the end.
  virtual bool give_back(void*, std::size_t) noexcept { return false; }
};
/// Memory of this process alone.
std::unique_ptr<PageSource> private_pages();
/// Address space of it alone: pages that nobody writes to take no memory, however many there are.
std::unique_ptr<PageSource> reserved_pages();

/// A page of the system's large ones.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Has the system hand out the memory of some addresses before anybody waits for it; what they hold
/// stays as it is.
void back_with_memory(void* first, std::size_t bytes) noexcept;

/// Keeps every block for the next request of its size class, so that a steady step takes nothing
/// from the system (never giving large buffers back is worth 1.4x of a step). Never touches the
/// memory itself. Where no more can be had, unused large blocks are given back and it is tried
/// again. Used by one thread.
class CachingAllocator : public Allocator {
 public:
  /// Tells a failed request, with the request and what is in use; never returns.
  using OutOfMemory = std::function<void(std::size_t bytes, const AllocatorStatistics&)>;

  /// `granularity`: sizes, and so places within a page, are multiples of it; a power of two.
  CachingAllocator(std::unique_ptr<PageSource> pages, std::size_t granularity,
                   OutOfMemory out_of_memory);
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  void* allocate(std::size_t bytes, std::size_t& capacity) override;
  void release(void* block, std::size_t capacity) noexcept override;
  AllocatorStatistics statistics() const override { return statistics_; }

 private:
  struct SizeClass {
    std::size_t capacity;
    std::vector<void*> free;
  };
  SizeClass& size_class(std::size_t capacity);
  void* take_pages(std::size_t bytes);
  void give_back_unused();

  std::vector<SizeClass> classes_;  // sorted by capacity: tens of them, found by bisection
  std::unique_ptr<PageSource> pages_;
  std::size_t granularity_;
  OutOfMemory out_of_memory_;
  AllocatorStatistics statistics_;
};

/// Hands out host memory. Blocks of 2 MiB and more lie on huge pages where the system has them.
class CachingHostAllocator final : public CachingAllocator {
 public:
  explicit CachingHostAllocator(std::unique_ptr<PageSource> pages = private_pages());
};

/// A device has no memory left; the message says what was asked for, and where the rest is.
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(ExitCode::environment, message) {}
};

}  // namespace mpitron::device
