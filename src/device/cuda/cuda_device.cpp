#include "device/cuda/cuda_device.h"

#include <algorithm>
#include <cstdint>

#include "device/cuda/check_cuda.h"
#include "device/device.h"
#include "utils/error.h"

namespace mpitron::device {
namespace {

/// GPU memory from the driver's stream-ordered pool, which keeps what is released. Owns the stream,
/// because blocks are released in its order.
class CudaAllocator final : public Allocator {
 public:
  explicit CudaAllocator(int device) {
    check(cudaSetDevice(device), "choosing the GPU");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    check(cudaDeviceGetDefaultMemPool(&pool_, device), "asking for the memory pool");
    std::uint64_t keep_everything = UINT64_MAX;
    check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_everything),
          "setting up the memory pool");
  }
  ~CudaAllocator() override { cudaStreamDestroy(stream_); }
  CudaAllocator(const CudaAllocator&) = delete;
  CudaAllocator& operator=(const CudaAllocator&) = delete;

  void* allocate(std::size_t bytes, std::size_t& capacity) override {
    capacity = (std::max<std::size_t>(bytes, 1) + 511) / 512 * 512;
    void* block = nullptr;
    check(cudaMallocAsync(&block, capacity, stream_), "allocating memory");
    bytes_in_use_ += static_cast<Index>(capacity);
    high_water_ = std::max(high_water_, bytes_in_use_);
    return block;
  }

  void release(void* block, std::size_t capacity) noexcept override {
    cudaFreeAsync(block, stream_);
    bytes_in_use_ -= static_cast<Index>(capacity);
  }

  AllocatorStatistics statistics() const override {
    std::uint64_t reserved = 0;
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved),
          "asking the memory pool");
    return {bytes_in_use_, static_cast<Index>(reserved), high_water_, 0};
  }

  cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  Index bytes_in_use_ = 0;
  Index high_water_ = 0;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(int index) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || index >= count) {
    throw_environment("--device cuda: GPU {} wanted, {} there ({})", index, count,
                      cudaGetErrorString(status));
  }
  auto allocator = std::make_unique<CudaAllocator>(index);
  CudaStream stream;
  stream.device = index;
  stream.handle = allocator->stream();
  return std::make_unique<Device>(stream, std::move(allocator));
}

void synchronize(CudaStream& stream) {
  check(cudaStreamSynchronize(stream.handle), "running the queued kernels");
}

}  // namespace mpitron::device
