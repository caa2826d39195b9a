// Hands out memory by size classes and keeps what is released, so a step whose sizes are those of
// the step before asks the system for nothing. Of small blocks several are taken at once.
#include "device/allocator.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <sys/mman.h>

#include "utils/error.h"

namespace mpitron::device {
namespace {

/// One page serves many blocks up to this size; a larger one has its own.
constexpr std::size_t kShared = std::size_t{64} << 10;

/// Rounds up: to one of eight sizes an octave where the granularity allows, which wastes less than
/// an eighth; large blocks are whole huge pages.
std::size_t class_capacity(std::size_t bytes, std::size_t granularity) {
  const std::size_t wanted = std::max(bytes, granularity);
  const std::size_t step =
      wanted >= kHugePage ? kHugePage : std::max(std::bit_floor(wanted) / 8, granularity);
  return (wanted + step - 1) / step * step;
}

/// Mappings of this process, unmapped at the end.
class Mappings {
 public:
  Mappings() = default;
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;
  ~Mappings() {
    for (const auto& [block, size] : mapped_) {
      ::munmap(block, size);
    }
  }

  /// `bytes`, from 2 MiB on at a multiple of it, with the system's `flags` and `advice`; null where
  /// none is left.
  char* add(std::size_t bytes, int flags, int advice) {
    void* mapping = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (mapping == MAP_FAILED) {
      return nullptr;
    }
    mapped_.emplace_back(mapping, bytes + kHugePage);
    if (bytes < kHugePage) {
      return static_cast<char*>(mapping);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(mapping);
    char* first = reinterpret_cast<char*>((address + kHugePage - 1) / kHugePage * kHugePage);
    ::madvise(first, bytes, advice);
    return first;
  }

 private:
  std::vector<std::pair<void*, std::size_t>> mapped_;
};

/// Backed by memory as it is touched, on huge pages.
class PrivatePages final : public PageSource {
 public:
  void* take(std::size_t bytes) override { return mappings_.add(bytes, 0, MADV_HUGEPAGE); }

 private:
  Mappings mappings_;
};

/// Small pages that are not promised, cut from long ranges: a device that computes nothing asks for
/// thousands of blocks, and a mapping of its own for each would take most of its time.
class ReservedPages final : public PageSource {
 public:
  void* take(std::size_t bytes) override {
    const std::size_t unit = bytes < kHugePage ? kPage : kHugePage;
    const std::size_t whole = (bytes + unit - 1) / unit * unit;
    next_ += (unit - reinterpret_cast<std::uintptr_t>(next_) % unit) % unit;
    if (next_ == nullptr || end_ - next_ < static_cast<std::ptrdiff_t>(whole)) {
      const std::size_t range = std::max(whole, kRange);
      next_ = mappings_.add(range, MAP_NORESERVE, MADV_NOHUGEPAGE);
      end_ = next_ == nullptr ? nullptr : next_ + range;
    }
    return next_ == nullptr ? nullptr : std::exchange(next_, next_ + whole);
  }

 private:
  static constexpr std::size_t kPage = 4096, kRange = std::size_t{1} << 28;

  Mappings mappings_;
  char* next_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace

std::unique_ptr<PageSource> private_pages() {
  return std::make_unique<PrivatePages>();
}

std::unique_ptr<PageSource> reserved_pages() {
  return std::make_unique<ReservedPages>();
}

/// Kernels before 5.14 know no such advice: there a store to each small page does the same.
void back_with_memory(void* first, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(first) / kPage * kPage;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(first) + bytes;
  if (::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE) == 0 ||
      errno != EINVAL) {
    return;  // where memory is short, whoever writes there is told
  }
  for (std::uintptr_t page = begin; page < end; page += kPage) {
    volatile char* const byte =
        reinterpret_cast<char*>(std::max(page, reinterpret_cast<std::uintptr_t>(first)));
    *byte = *byte;
  }
}

CachingAllocator::CachingAllocator(std::unique_ptr<PageSource> pages, std::size_t granularity,
                                   OutOfMemory out_of_memory)
    : pages_(std::move(pages)),
      granularity_(granularity),
      out_of_memory_(std::move(out_of_memory)) {}

CachingAllocator::SizeClass& CachingAllocator::size_class(std::size_t capacity) {
  const auto at =
      std::lower_bound(classes_.begin(), classes_.end(), capacity,
                       [](const SizeClass& c, std::size_t wanted) { return c.capacity < wanted; });
  if (at != classes_.end() && at->capacity == capacity) {
    return *at;
  }
  return *classes_.insert(at, SizeClass{capacity, {}});
}

void* CachingAllocator::allocate(std::size_t bytes, std::size_t& capacity) {
  capacity = class_capacity(bytes, granularity_);
  SizeClass& same = size_class(capacity);
  if (same.free.empty()) {
    const std::size_t count = std::max<std::size_t>(1, kShared / capacity);
    char* const first =
        static_cast<char*>(take_pages(std::max(capacity * count, std::size_t{4096})));
    for (std::size_t i = count; i-- > 0;) {
      same.free.push_back(first + i * capacity);
    }
    same.free.reserve(2 * count);
  }
  void* block = same.free.back();
  same.free.pop_back();
  statistics_.bytes_in_use += static_cast<Index>(capacity);
  statistics_.high_water = std::max(statistics_.high_water, statistics_.bytes_in_use);
  return block;
}

void* CachingAllocator::take_pages(std::size_t bytes) {
  void* pages = pages_->take(bytes);
  if (pages == nullptr) {
    give_back_unused();
    pages = pages_->take(bytes);
  }
  if (pages == nullptr) {
    out_of_memory_(bytes, statistics_);
  }
  statistics_.bytes_reserved += static_cast<Index>(bytes);
  ++statistics_.system_allocations;
  return pages;
}

void CachingAllocator::give_back_unused() {
  for (SizeClass& c : classes_) {
    if (c.capacity > kShared / 2) {
      std::erase_if(c.free, [&](void* block) {
        const bool gone = pages_->give_back(block, c.capacity);
        statistics_.bytes_reserved -= gone ? static_cast<Index>(c.capacity) : 0;
        return gone;
      });
    }
  }
}

void CachingAllocator::release(void* block, std::size_t capacity) noexcept {
  size_class(capacity).free.push_back(block);
  statistics_.bytes_in_use -= static_cast<Index>(capacity);
}

CachingHostAllocator::CachingHostAllocator(std::unique_ptr<PageSource> pages)
    : CachingAllocator(std::move(pages), 64, [](std::size_t bytes, const AllocatorStatistics& now) {
        throw_environment("out of host memory: {} MiB more wanted, {} MiB in use", bytes >> 20,
                          now.bytes_in_use >> 20);
      }) {}

}  // namespace mpitron::device
