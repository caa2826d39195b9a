#include "kernels/cuda/warpgroup_code.h"

#include <cuda_runtime_api.h>

#include "device/cuda/check_cuda.h"

namespace mpitron::kernels::cuda {

bool has_warpgroup_code(const device::CudaStream& stream, const void* kernel) {
  constexpr int kHopper = 9, kRegistersOfAnEmptyBody = 32;
  int major = 0;
  device::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, stream.device),
                "compute capability");
  if (major != kHopper) {
    return false;
  }
  cudaFuncAttributes attributes{};
  device::check(cudaFuncGetAttributes(&attributes, kernel), "attributes of a kernel");
  return attributes.numRegs > kRegistersOfAnEmptyBody;
}

}  // namespace mpitron::kernels::cuda
