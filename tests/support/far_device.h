#pragma once
#include <cstring>

#include "device/device.h"

namespace mpitron::test {

/// Memory of the host that behaves as a GPU's: notes on its blocks lie elsewhere, and what a
/// released one holds is lost.
class FarAllocator final : public device::CachingAllocator {
 public:
  FarAllocator()
      : CachingAllocator(device::private_pages(), 512,
                         [](std::size_t, const device::AllocatorStatistics&) { std::abort(); }) {}
  void release(void* block, std::size_t capacity) noexcept override {
    std::memset(block, 0xff, capacity);
    CachingAllocator::release(block, capacity);
  }
  device::Allocator* notes() override { return &notes_; }

 private:
  device::CachingHostAllocator notes_;
};

/// A device whose tensors have to be copied before the host reads them.
inline std::unique_ptr<device::Device> make_far_device() {
  return std::make_unique<device::Device>(
      device::ReferenceStream{}, std::make_unique<FarAllocator>(),
      std::make_unique<device::CachingHostAllocator>(), std::make_unique<FarAllocator>());
}

}  // namespace mpitron::test
