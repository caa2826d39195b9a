#pragma once
#include <cstddef>

namespace mpitron::emulator {

/// Memory of all emulated GPUs: one range of addresses, which nobody may touch but queued work
/// while it runs. Whoever else does is told so, with the calls that led there.

/// Device memory may be touched while one of these lives, by any thread.
class OpenDeviceMemory {
 public:
  OpenDeviceMemory();
  ~OpenDeviceMemory();
  OpenDeviceMemory(const OpenDeviceMemory&) = delete;
  OpenDeviceMemory& operator=(const OpenDeviceMemory&) = delete;
};

/// A block of `bytes`, aligned to 512 and filled with 0xff (NaN); null where `device` has no such
/// range left.
void* allocate_device_memory(int device, std::size_t bytes);
/// False where no block begins there.
bool release_device_memory(void* block);

struct MemoryInfo {
  std::size_t used, total;
};
MemoryInfo device_memory_info(int device);
/// Bytes of every emulated GPU: 16 GiB, or what MPITRON_EMULATED_GPU_MEMORY says.
void set_device_memory_capacity(std::size_t bytes);

bool is_device_memory(const void* address);
/// Whether [address, address + bytes) lies in one block that is in use.
bool inside_one_block(const void* address, std::size_t bytes);
int device_of(const void* address);

/// Page-locked host memory. What is released stays unreachable for ever, so that queued work that
/// still uses it is caught.
void* allocate_pinned_memory(std::size_t bytes);
bool release_pinned_memory(void* block);
bool is_pinned_memory(const void* address);

}  // namespace mpitron::emulator
