#pragma once
#include <deque>
#include <vector>

#include "device/allocator.h"
#include "device/cuda/cuda_handles.h"

namespace mpitron::device {

/// Memory of the GPU that is current when it is made, for work on one stream, which it owns beside
/// one for copies from the host: released blocks are handed out again in the stream's order, and no
/// steady step asks the driver for any. Other streams wait for events of this one before they touch
/// its blocks, and it for theirs before a block that they use is released.
class CudaAllocator final : public Allocator {
 public:
  CudaAllocator();
  void* allocate(std::size_t bytes, std::size_t& capacity) override;
  void release(void* block, std::size_t capacity) noexcept override;
  AllocatorStatistics statistics() const override;
  /// While a graph is recorded, blocks come from memory that nobody else uses, and go back there.
  void set_recording(bool recording) { recording_ = recording; }
  cudaStream_t stream() const { return stream_.get(); }
  cudaStream_t uploads() const { return uploads_.get(); }
  cudaEvent_t uploaded() const { return uploaded_.get(); }
  Allocator* notes() override { return &notes_; }

 private:
  StreamHandle stream_ = make_stream();
  StreamHandle uploads_ = make_stream();
  EventHandle uploaded_ = make_event();
  CachingHostAllocator notes_;
  CachingAllocator blocks_, graph_blocks_;
  bool recording_ = false;
};

/// Blocks that others than the stream write: page-locked memory of the host, or memory of the GPU
/// that copies from there fill beside the stream's work. A released block is handed out again once
/// the stream has done what was queued before; what is released while the stream records a graph,
/// which uses none of it, waits for the end of the recording.
class PassedAllocator final : public Allocator {
 public:
  enum class Memory { host, device };
  /// `stream` outlives this.
  PassedAllocator(cudaStream_t stream, Memory memory);
  ~PassedAllocator() override;
  PassedAllocator(const PassedAllocator&) = delete;
  PassedAllocator& operator=(const PassedAllocator&) = delete;

  void* allocate(std::size_t bytes, std::size_t& capacity) override;
  void release(void* block, std::size_t capacity) noexcept override;
  AllocatorStatistics statistics() const override { return blocks_.statistics(); }
  Allocator* notes() override { return memory_ == Memory::device ? &notes_ : nullptr; }

 private:
  struct Block {
    void* memory;
    std::size_t capacity;
  };
  struct Pending {
    Block block;
    EventHandle passed;
  };
  bool recording() const;
  void release_behind_the_stream(const Block& block) noexcept;

  cudaStream_t stream_;
  Memory memory_;
  CachingHostAllocator notes_;
  CachingAllocator blocks_;
  std::deque<Pending> pending_;  // in the stream's order
  std::vector<Block> released_in_recording_;
  std::vector<EventHandle> events_;  // spare ones
};

}  // namespace mpitron::device
