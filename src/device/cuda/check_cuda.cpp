#include "device/cuda/check_cuda.h"

#include "utils/error.h"

namespace mpitron::device {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw_environment("CUDA: {}: {} ({})", what, cudaGetErrorString(status),
                      cudaGetErrorName(status));
  }
}

void check_shared_memory(int device, const char* kernel, std::size_t bytes) {
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), kernel);
  if (bytes > static_cast<std::size_t>(most)) {
    throw_environment(
        "kernel {} needs {} KiB of shared memory for this shape, but a block of this GPU has at "
        "most {} KiB: take smaller heads or a narrower layer, or another GPU",
        kernel, (bytes + 1023) / 1024, most / 1024);
  }
}

}  // namespace mpitron::device
