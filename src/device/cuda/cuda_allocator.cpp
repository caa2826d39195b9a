// Serves memory of a GPU. What the driver gives is kept and cut into blocks; when it has no more,
// cached pages are given back and it is asked again before the program fails.
#include "device/cuda/cuda_allocator.h"

#include <algorithm>

#include "device/allocator.h"
#include "device/cuda/cuda_handles.h"
#include "utils/error.h"

namespace mpitron::device {
namespace {

/// Alignment that cuBLASLt takes for granted of the places of matrices, and a whole number of
/// sectors.
constexpr std::size_t kGranularity = 512;

/// Pages of the driver, through a pair of its functions.
class DriverPages final : public PageSource {
 public:
  using Take = cudaError_t (*)(void**, std::size_t);
  using GiveBack = cudaError_t (*)(void*);
  DriverPages(Take take, GiveBack give_back) : take_(take), give_back_(give_back) {}
  ~DriverPages() override {
    for (void* pages : taken_) {
      give_back_(pages);
    }
  }
  DriverPages(const DriverPages&) = delete;
  DriverPages& operator=(const DriverPages&) = delete;

  void* take(std::size_t bytes) override {
    void* pages = nullptr;
    const cudaError_t status = take_(&pages, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // it is dealt with here, and not the next call's
      return nullptr;
    }
    check(status, "allocating memory");
    taken_.push_back(pages);
    return pages;
  }

  bool give_back(void* pages, std::size_t) noexcept override {
    std::erase(taken_, pages);
    return give_back_(pages) == cudaSuccess;  // waits for all work that may use them
  }

 private:
  Take take_;
  GiveBack give_back_;
  std::vector<void*> taken_;
};

std::unique_ptr<PageSource> device_pages() {
  return std::make_unique<DriverPages>(
      [](void** pages, std::size_t n) { return cudaMalloc(pages, n); },
      [](void* pages) { return cudaFree(pages); });
}

std::unique_ptr<PageSource> pinned_pages() {
  return std::make_unique<DriverPages>(
      [](void** pages, std::size_t n) { return cudaMallocHost(pages, n); },
      [](void* pages) { return cudaFreeHost(pages); });
}

void out_of_device_memory(std::size_t bytes, const AllocatorStatistics& now) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the GPU's free memory");
  const auto others = static_cast<Index>(total - free) - now.bytes_reserved;
  throw OutOfMemory(fmt::format(
      "out of GPU memory: {} MiB more wanted; of {} MiB this process has {} MiB in use (at most {} "
      "so far) and {} MiB put by in other sizes, {} MiB are free, {} MiB belong to the driver and "
      "other processes. Less is needed with a smaller --micro-batch-size, with "
      "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1, with "
      "--use-distributed-optimizer, or over more GPUs with --tensor-model-parallel-size or "
      "--pipeline-model-parallel-size; `mpitron plan` tells what a layout needs",
      bytes >> 20, total >> 20, now.bytes_in_use >> 20, now.high_water >> 20,
      (now.bytes_reserved - now.bytes_in_use) >> 20, free >> 20, std::max<Index>(others, 0) >> 20));
}

void out_of_pinned_memory(std::size_t bytes, const AllocatorStatistics& now) {
  throw_environment(
      "out of page-locked host memory: {} MiB more wanted, {} MiB in use; does a limit of the job "
      "or the container (ulimit -l, memory of the cgroup) hold it back?",
      bytes >> 20, now.bytes_in_use >> 20);
}

}  // namespace

CudaAllocator::CudaAllocator()
    : blocks_(device_pages(), kGranularity, out_of_device_memory),
      graph_blocks_(device_pages(), kGranularity, out_of_device_memory) {}

void* CudaAllocator::allocate(std::size_t bytes, std::size_t& capacity) {
  return (recording_ ? graph_blocks_ : blocks_).allocate(bytes, capacity);
}

void CudaAllocator::release(void* block, std::size_t capacity) noexcept {
  (recording_ ? graph_blocks_ : blocks_).release(block, capacity);
}

AllocatorStatistics CudaAllocator::statistics() const {
  const AllocatorStatistics own = blocks_.statistics(), graphs = graph_blocks_.statistics();
  return {.bytes_in_use = own.bytes_in_use + graphs.bytes_in_use,
          .bytes_reserved = own.bytes_reserved + graphs.bytes_reserved,
          .high_water = own.high_water + graphs.high_water,
          .system_allocations = own.system_allocations + graphs.system_allocations};
}

PassedAllocator::PassedAllocator(cudaStream_t stream, Memory memory)
    : stream_(stream),
      memory_(memory),
      blocks_(memory == Memory::host ? pinned_pages() : device_pages(), kGranularity,
              memory == Memory::host ? out_of_pinned_memory : out_of_device_memory) {}

PassedAllocator::~PassedAllocator() {
  cudaStreamSynchronize(stream_);
}

void* PassedAllocator::allocate(std::size_t bytes, std::size_t& capacity) {
  while (!pending_.empty() && cudaEventQuery(pending_.front().passed.get()) == cudaSuccess) {
    Pending& first = pending_.front();
    blocks_.release(first.block.memory, first.block.capacity);
    events_.push_back(std::move(first.passed));
    pending_.pop_front();
  }
  return blocks_.allocate(bytes, capacity);
}

void PassedAllocator::release(void* block, std::size_t capacity) noexcept {
  released_in_recording_.push_back({block, capacity});
  if (!recording()) {
    for (const Block& released : released_in_recording_) {
      release_behind_the_stream(released);
    }
    released_in_recording_.clear();
  }
}

bool PassedAllocator::recording() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(stream_, &status);
  return status != cudaStreamCaptureStatusNone;
}

void PassedAllocator::release_behind_the_stream(const Block& block) noexcept {
  if (events_.empty()) {
    events_.push_back(make_event());
  }
  cudaEventRecord(events_.back().get(), stream_);
  pending_.push_back({block, std::move(events_.back())});
  events_.pop_back();
}

}  // namespace mpitron::device
