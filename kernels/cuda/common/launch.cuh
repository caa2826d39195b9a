#pragma once
#include <cuda_runtime.h>

#include "device/cuda/cuda_device.h"
#include "device/cuda/cuda_handles.h"

namespace mpitron::kernels::cuda {

struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;  // dynamic shared memory of a block
};

/// Queues one kernel on the stream; `name` names it where that fails. A function instead of <<<>>>,
/// so that the same source runs on the emulator (emulator/).
template <class... P, class... A>
void launch(device::CudaStream& stream, const char* name, const LaunchShape& shape,
            void (*kernel)(P...), const A&... arguments) {
  constexpr std::size_t kWithoutAsking = 48 << 10;
  if (shape.shared_bytes > kWithoutAsking) {
    device::check_shared_memory(stream.device, name, shape.shared_bytes);
    device::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shape.shared_bytes)),
                  name);
  }
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream.handle;
  device::check(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...), name);
}

}  // namespace mpitron::kernels::cuda
