#pragma once
#include "device/cuda/cuda_device.h"

namespace mpitron::kernels::cuda {

/// Whether the stream's GPU has the instructions of warpgroups (compute capability 9.0). Kernels
/// that use them are compiled for sm_90a alone (MpitronCuda.cmake: *_wgmma_*.cu).
bool has_warpgroups(const device::CudaStream& stream);

}  // namespace mpitron::kernels::cuda
