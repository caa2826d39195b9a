#pragma once
#include <cuda_runtime_api.h>

namespace mpitron::device {

/// Turns a failed CUDA call into Error(environment); `what` says what was being done.
void check(cudaError_t status, const char* what);

}  // namespace mpitron::device
