#pragma once
#include <cstddef>

#include <cuda_runtime_api.h>

namespace mpitron::device {

/// Turns a failed CUDA call into Error(environment); `what` says what was being done.
void check(cudaError_t status, const char* what);

/// Error(environment) where a block of this GPU cannot have so much shared memory as the kernel
/// wants: 99 KiB on compute capability 8.6 and 8.9, 163 KiB on 8.0, 227 KiB on 9.0.
void check_shared_memory(int device, const char* kernel, std::size_t bytes);

}  // namespace mpitron::device
