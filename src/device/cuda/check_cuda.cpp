#include "device/cuda/check_cuda.h"

#include "utils/error.h"

namespace mpitron::device {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw_environment("CUDA: {}: {} ({})", what, cudaGetErrorString(status),
                      cudaGetErrorName(status));
  }
}

}  // namespace mpitron::device
