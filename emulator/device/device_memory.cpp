// Reserves one range of addresses for all emulated GPUs and opens it to queued work alone: pages
// are protected (mprotect) whenever nothing runs, and a fault handler names who touches them.
// Blocks take the first gap that is large enough.
#include "emulator/device/device_memory.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include <sys/mman.h>

#include "emulator/device/failure.h"

namespace mpitron::emulator {
namespace {

constexpr std::size_t kAlignment = 512;
constexpr std::size_t kDevices = 16;
// Addresses of one device: all have room where ThreadSanitizer leaves some.
constexpr std::size_t kRange = std::size_t{24} << 30;
constexpr std::size_t kPage = 4096;

std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

char* reserve(std::size_t bytes) {
  void* range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    fail("no range of addresses is left for device memory");
  }
  return static_cast<char*>(range);
}

/// Blocks and gaps of one device, by the address where they begin.
struct Range {
  char* begin = nullptr;
  std::size_t end = 0;  // of the highest block that ever was, from `begin`
  std::size_t used = 0;
  std::map<char*, std::size_t> blocks, gaps;  // gaps lie below `end`
};

class Arena {
 public:
  Arena() : memory_(reserve(kDevices * kRange)) {
    for (std::size_t device = 0; device < kDevices; ++device) {
      ranges_[device].begin = memory_ + device * kRange;
    }
    if (const char* bytes = std::getenv("MPITRON_EMULATED_GPU_MEMORY"); bytes != nullptr) {
      capacity_ = std::stoull(bytes);
    }
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigaction(SIGSEGV, &action, nullptr);
  }

  void open() {
    const std::lock_guard lock(mutex_);
    if (open_++ == 0) {
      protect(PROT_READ | PROT_WRITE);
    }
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) {
      protect(PROT_NONE);
    }
  }

  /// Takes a block and fills it with 0xff, which is NaN in every floating-point type: numbers that
  /// nobody wrote show.
  void* allocate(int device, std::size_t bytes) {
    bytes = round_up(std::max<std::size_t>(bytes, 1), kAlignment);
    const std::lock_guard lock(mutex_);
    Range& range = ranges_[static_cast<std::size_t>(device)];
    char* block = range.used + bytes > capacity_ ? nullptr : take(range, bytes);
    if (block == nullptr) {
      return nullptr;
    }
    range.blocks[block] = bytes;
    range.used += bytes;
    // The pages must be reachable for the fill, and must stay so where work is running.
    char* page = memory_ + static_cast<std::size_t>(block - memory_) / kPage * kPage;
    const std::size_t pages = round_up(static_cast<std::size_t>(block + bytes - page), kPage);
    mprotect(page, pages, PROT_READ | PROT_WRITE);
    std::memset(block, 0xff, bytes);
    if (open_ == 0) {
      mprotect(page, pages, PROT_NONE);
    }
    return block;
  }

  bool release(void* address) {
    const std::lock_guard lock(mutex_);
    if (!holds(address)) {
      return false;
    }
    Range& range = ranges_[static_cast<std::size_t>(device_at(address))];
    const auto block = range.blocks.find(static_cast<char*>(address));
    if (block == range.blocks.end()) {
      return false;
    }
    range.used -= block->second;
    drop_pages(block->first, block->second);
    add_gap(range, block->first, block->second);
    range.blocks.erase(block);
    return true;
  }

  bool inside_one_block(const void* address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!holds(address)) {
      return false;
    }
    const Range& range = ranges_[static_cast<std::size_t>(device_at(address))];
    const char* begin = static_cast<const char*>(address);
    auto block = range.blocks.upper_bound(const_cast<char*>(begin));
    return block != range.blocks.begin() &&
           (--block, begin + bytes <= block->first + block->second);
  }

  MemoryInfo info(int device) {
    const std::lock_guard lock(mutex_);
    return {ranges_[static_cast<std::size_t>(device)].used, capacity_};
  }
  void set_capacity(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    capacity_ = bytes;
  }
  bool holds(const void* address) const {
    return address >= memory_ && address < memory_ + kDevices * kRange;
  }
  int device_at(const void* address) const {
    return static_cast<int>(static_cast<std::size_t>(static_cast<const char*>(address) - memory_) /
                            kRange);
  }

 private:
  static void on_fault(int, siginfo_t* fault, void*);

  /// Gives whole pages back to the system, because protecting costs time for every page that is
  /// there.
  static void drop_pages(char* block, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
    const std::uintptr_t end = (begin + bytes) / kPage * kPage;
    if (first < end) {
      madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
    }
  }
  void protect(int how) {
    for (const Range& range : ranges_) {
      if (range.end > 0) {
        mprotect(range.begin, round_up(range.end, kPage), how);
      }
    }
  }
  /// Takes the first gap that is large enough, or the end of the range.
  static char* take(Range& range, std::size_t bytes) {
    for (auto gap = range.gaps.begin(); gap != range.gaps.end(); ++gap) {
      if (gap->second >= bytes) {
        char* block = gap->first;
        const std::size_t rest = gap->second - bytes;
        range.gaps.erase(gap);
        if (rest > 0) {
          range.gaps[block + bytes] = rest;
        }
        return block;
      }
    }
    if (range.end + bytes > kRange) {
      return nullptr;
    }
    char* block = range.begin + range.end;
    range.end += bytes;
    return block;
  }
  /// Returns a block to the gaps, joined with its neighbours.
  static void add_gap(Range& range, char* begin, std::size_t bytes) {
    auto next = range.gaps.lower_bound(begin);
    if (next != range.gaps.end() && begin + bytes == next->first) {
      bytes += next->second;
      next = range.gaps.erase(next);
    }
    if (next != range.gaps.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == begin) {
        previous->second += bytes;
        return;
      }
    }
    range.gaps[begin] = bytes;
  }

  char* memory_;
  std::size_t capacity_ = std::size_t{16} << 30;
  std::mutex mutex_;
  int open_ = 0;
  Range ranges_[kDevices];
};

Arena& arena() {
  static Arena& only = *new Arena;  // lives as long as anything that may be freed
  return only;
}

/// Page-locked memory of the host. Released blocks stay mapped without access, so their addresses
/// never come back.
struct PinnedMemory {
  std::mutex mutex;
  std::map<const char*, std::size_t> used, released;
};
PinnedMemory& pinned_memory() {
  static PinnedMemory& only = *new PinnedMemory;
  return only;
}
bool lies_in(const std::map<const char*, std::size_t>& blocks, const void* address) {
  auto block = blocks.upper_bound(static_cast<const char*>(address));
  return block != blocks.begin() &&
         (--block, static_cast<const char*>(address) < block->first + block->second);
}

void Arena::on_fault(int, siginfo_t* fault, void*) {
  if (arena().holds(fault->si_addr)) {
    fail("host code touched device memory (or a kernel touched what never was allocated)");
  }
  if (lies_in(pinned_memory().released, fault->si_addr)) {
    fail("page-locked memory was used after its release: queued work may not have run yet");
  }
  // Not ours: the instruction runs again and faults without this handler.
}

}  // namespace

OpenDeviceMemory::OpenDeviceMemory() {
  arena().open();
}
OpenDeviceMemory::~OpenDeviceMemory() {
  arena().close();
}

void* allocate_device_memory(int device, std::size_t bytes) {
  return arena().allocate(device, bytes);
}
bool release_device_memory(void* block) {
  return arena().release(block);
}
MemoryInfo device_memory_info(int device) {
  return arena().info(device);
}
void set_device_memory_capacity(std::size_t bytes) {
  arena().set_capacity(bytes);
}
bool is_device_memory(const void* address) {
  return arena().holds(address);
}
bool inside_one_block(const void* address, std::size_t bytes) {
  return arena().inside_one_block(address, bytes);
}
int device_of(const void* address) {
  return arena().device_at(address);
}

void* allocate_pinned_memory(std::size_t bytes) {
  bytes = round_up(std::max<std::size_t>(bytes, 1), kPage);
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) {
    return nullptr;
  }
  PinnedMemory& memory = pinned_memory();
  const std::lock_guard lock(memory.mutex);
  memory.used[static_cast<char*>(block)] = bytes;
  return block;
}

bool release_pinned_memory(void* address) {
  PinnedMemory& memory = pinned_memory();
  const std::lock_guard lock(memory.mutex);
  const auto block = memory.used.find(static_cast<char*>(address));
  if (block == memory.used.end()) {
    return false;
  }
  madvise(address, block->second, MADV_DONTNEED);
  mprotect(address, block->second, PROT_NONE);
  memory.released.insert(memory.used.extract(block));
  return true;
}

bool is_pinned_memory(const void* address) {
  PinnedMemory& memory = pinned_memory();
  const std::lock_guard lock(memory.mutex);
  return lies_in(memory.used, address);
}

}  // namespace mpitron::emulator
