#pragma once
#include "device/cuda/cuda_device.h"

namespace mpitron::kernels::cuda {

/// Whether the stream's GPU has the instructions of warpgroups (compute capability 9.0), and the
/// program this kernel's code for it: where it is compiled for other GPUs than sm_90a its body is
/// empty, which shows in its few registers.
bool has_warpgroup_code(const device::CudaStream& stream, const void* kernel);

}  // namespace mpitron::kernels::cuda
