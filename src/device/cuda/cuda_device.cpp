// Makes the device of a GPU and its copies. All CUDA types stay behind this folder.
#include "device/cuda/cuda_device.h"

#include "device/cuda/cuda_allocator.h"
#include "device/cuda/cuda_handles.h"
#include "device/device.h"
#include "device/free_memory.h"
#include "utils/error.h"

namespace mpitron::device {

std::unique_ptr<Device> make_cuda_device(int index) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || index >= count) {
    throw_environment("--device cuda: GPU {} wanted, {} there ({})", index, count,
                      cudaGetErrorString(status));
  }
  check(cudaSetDevice(index), "choosing the GPU");
  auto allocator = std::make_unique<CudaAllocator>();
  CudaStream stream;
  stream.device = index;
  stream.handle = allocator->stream();
  stream.uploads = allocator->uploads();
  stream.uploaded = allocator->uploaded();
  auto staging = std::make_unique<PassedAllocator>(stream.handle, PassedAllocator::Memory::host);
  auto arrivals = std::make_unique<PassedAllocator>(stream.handle, PassedAllocator::Memory::device);
  return std::make_unique<Device>(stream, std::move(allocator), std::move(staging),
                                  std::move(arrivals));
}

Index free_gpu_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the GPU's free memory");
  return static_cast<Index>(free);
}

void copy_bytes(CudaStream& stream, void* to, const void* from, Index bytes) {
  check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream.handle),
      "copying");
}

void upload_bytes(CudaStream& stream, void* to, const void* from, Index bytes) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                        stream.uploads),
        "copying to the GPU");
  check(cudaEventRecord(stream.uploaded, stream.uploads), "marking the end of a copy");
  check(cudaStreamWaitEvent(stream.handle, stream.uploaded, 0), "waiting for a copy");
}

void synchronize(CudaStream& stream) {
  check(cudaStreamSynchronize(stream.handle), "running the queued kernels");
}

}  // namespace mpitron::device
