#pragma once
#include "kernels/attention.h"

// Attention by products of warpgroups (wgmma): attention_forward.cu's numbers but for rounding.
namespace mpitron::kernels::cuda::attention {

/// Whether it can be had: on a GPU of compute capability 9.0, in a program compiled for sm_90a, in
/// bf16 or fp16, with head sizes up to 128 (of q and k up to 192), for views that make_head_map can
/// describe.
bool wgmma_fits(const device::CudaStream& stream, const AttentionForward& kernel);

/// What fits. It needs no workspace.
void run_wgmma(device::CudaStream& stream, const AttentionForward& kernel);

}  // namespace mpitron::kernels::cuda::attention
