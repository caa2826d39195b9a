#include "emulator/nccl/nccl_registration.h"

#include <atomic>
#include <iterator>
#include <mutex>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "emulator/device/device_memory.h"
#include "emulator/device/failure.h"
#include "emulator/device/queue.h"
#include "emulator/nccl/emulated_nccl.h"

// Keeps the blocks of ncclMemAlloc, and counts the registrations of each.

namespace mpitron::emulator {
namespace {

std::atomic<int> version{0};

/// Blocks of ncclMemAlloc of all GPUs.
class Blocks {
 public:
  void add(void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<std::byte*>(memory)] = {.bytes = bytes};
  }
  /// Removes a block; false where none begins there.
  bool remove(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(static_cast<std::byte*>(memory));
    if (block == blocks_.end()) {
      return false;
    }
    if (block->second.registrations > 0) {
      fail("NCCL: memory is freed that a communicator has registered");
    }
    blocks_.erase(block);
    return true;
  }
  /// Counts a registration of this memory, or one less.
  void count(const std::byte* memory, std::size_t bytes, int change) {
    const std::lock_guard lock(mutex_);
    auto behind = blocks_.upper_bound(const_cast<std::byte*>(memory));
    if (behind == blocks_.begin() || !inside_one_block(memory, bytes) ||
        memory + bytes > std::prev(behind)->first + std::prev(behind)->second.bytes) {
      fail("NCCL: memory is registered that is no part of a block of ncclMemAlloc");
    }
    std::prev(behind)->second.registrations += change;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return blocks_.size();
  }

 private:
  struct Block {
    std::size_t bytes = 0;
    int registrations = 0;
  };
  std::mutex mutex_;
  std::map<std::byte*, Block> blocks_;
};

Blocks& blocks() {
  static Blocks all;
  return all;
}

}  // namespace

/// Strikes out the registrations of a communicator that was aborted, which ends without
/// deregistering them.
Registrations::~Registrations() {
  for (const auto& [memory, bytes] : ranges_) {
    blocks().count(memory, bytes, -1);
  }
}

void* Registrations::add(void* memory, std::size_t bytes) {
  if (!ranges_.emplace(static_cast<const std::byte*>(memory), bytes).second) {
    fail("NCCL: memory is registered twice");
  }
  blocks().count(static_cast<const std::byte*>(memory), bytes, 1);
  return memory;
}

void Registrations::remove(void* handle) {
  const auto range = ranges_.extract(static_cast<const std::byte*>(handle));
  if (range.empty()) {
    fail("NCCL: what is deregistered was never registered");
  }
  blocks().count(range.key(), range.mapped(), -1);
}

bool Registrations::hold(const void* memory, std::size_t bytes) const {
  if (bytes == 0 || memory == nullptr) {
    return true;
  }
  const auto* const first = static_cast<const std::byte*>(memory);
  const auto behind = ranges_.upper_bound(first);
  return behind != ranges_.begin() &&
         first + bytes <= std::prev(behind)->first + std::prev(behind)->second;
}

void Registrations::expect_none() const {
  if (!ranges_.empty()) {
    fail("NCCL: a communicator ends before its memory is deregistered");
  }
}

std::size_t nccl_blocks() {
  return blocks().size();
}

void set_nccl_version(int told) {
  version = told;
}

}  // namespace mpitron::emulator

using namespace mpitron::emulator;

ncclResult_t ncclGetVersion(int* told) {
  *told = version == 0 ? NCCL_VERSION_CODE : version.load();
  return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void** memory, size_t bytes) {
  if (cudaMalloc(memory, bytes) != cudaSuccess) {
    return ncclUnhandledCudaError;
  }
  blocks().add(*memory, bytes);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* memory) {
  if (!blocks().remove(memory)) {
    return ncclInvalidArgument;
  }
  return cudaFree(memory) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
