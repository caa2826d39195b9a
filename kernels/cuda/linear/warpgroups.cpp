#include "kernels/cuda/linear/warpgroups.h"

#include <utility>

#include <cuda_runtime_api.h>

#include "device/cuda/check_cuda.h"

namespace mpitron::kernels::cuda {

bool has_warpgroups(const device::CudaStream& stream) {
  int major = 0, minor = 0;
  for (const auto& [attribute, value] : {std::pair{cudaDevAttrComputeCapabilityMajor, &major},
                                         std::pair{cudaDevAttrComputeCapabilityMinor, &minor}}) {
    device::check(cudaDeviceGetAttribute(value, attribute, stream.device), "compute capability");
  }
  return major == 9 && minor == 0;
}

}  // namespace mpitron::kernels::cuda
