#pragma once

#include <cuda.h>

#include "device/cuda/cuda_device.h"
#include "device/tensor_view.h"

namespace mpitron::kernels::cuda {

/// Tells the copy engine (TMA) how to find the heads of a view [s, b, n, d] or [s, b, n / m, m, d]
/// of bf16 or fp16: boxes of `rows` rows of one head, 64 columns wide, at {column, head % m, head /
/// m, sample, row}.
struct HeadMap {
  CUtensorMap map;
  int inner;  // m
};

/// False where the copy engine cannot read the view, or the driver has none: its address and all
/// strides are multiples of 16 bytes, no extent is 0. Source: cuTensorMapEncodeTiled in cuda.h.
bool make_head_map(HeadMap& to, const device::ConstTensorView& view, int rows);

/// Tells whether the stream's GPU has the instructions of warpgroups (compute capability 9.0).
/// Kernels that use them are compiled for sm_90a alone (MpitronCuda.cmake: *_wgmma_*.cu).
bool has_warpgroups(const device::CudaStream& stream);

}  // namespace mpitron::kernels::cuda
