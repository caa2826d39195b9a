#pragma once
#include <map>
#include <memory>
#include <vector>

#include "comm/cuda/nccl_channel.h"
#include "device/allocator.h"

namespace mpitron::comm {

/// Memory of the GPU that is current when it is made, of the kind that communicators can register
/// (ncclMemAlloc), so that NCCL reads and writes it in place. Released blocks are kept for the next
/// request, and stay registered. Channels that end first take their registrations with them.
class NcclMemory final : public device::Allocator {
 public:
  /// On the calling thread's current GPU.
  NcclMemory();

  /// Bytes are rounded up to `capacity`, which `release` gets back.
  void* allocate(std::size_t bytes, std::size_t& capacity) override;
  void release(void* block, std::size_t capacity) noexcept override;
  device::AllocatorStatistics statistics() const override { return blocks_.statistics(); }
  Allocator* notes() override { return &notes_; }

  /// Registers the pages in which `memory` lies with the channel's communicator, once; memory of
  /// others is left alone.
  void enlist(const TensorView& memory, const std::shared_ptr<NcclChannel>& channel);

 private:
  class Pages;
  /// Split from the public one, so that `pages_` can name what `blocks_` owns.
  explicit NcclMemory(std::unique_ptr<Pages> pages);

  /// Small notes of the host, which NCCL never sees.
  device::CachingHostAllocator notes_;
  Pages& pages_;  // of blocks_
  device::CachingAllocator blocks_;
};

}  // namespace mpitron::comm
