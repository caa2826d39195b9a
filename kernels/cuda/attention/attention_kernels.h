#pragma once

#include "kernels/attention/attention.h"

// The kernels that a GPU has for one attention; attention_choice.cpp decides which of them runs.
namespace mpitron::kernels::cuda::attention {

/// mma: products of a warp, for every attention (attention_forward.cu, attention_backward.cu).
void run_mma(device::CudaStream& stream, const AttentionForward& kernel);
void run_mma(device::CudaStream& stream, const AttentionBackward& kernel);
Index mma_workspace_bytes(const device::CudaStream& stream, const AttentionBackward& kernel);

/// wgmma: products of warpgroups (attention_wgmma_forward.cu, attention_wgmma_backward.cu). It fits
/// on a GPU of compute capability 9.0: attention in bf16 or fp16, with head sizes up to 128
/// (forward: of q and k up to 192), of views that make_head_map can describe; backward without a
/// bias.
bool wgmma_fits(const device::CudaStream& stream, const AttentionForward& kernel);
bool wgmma_fits(const device::CudaStream& stream, const AttentionBackward& kernel);
Index wgmma_workspace_bytes(const device::CudaStream& stream, const AttentionBackward& kernel);
void run_wgmma(device::CudaStream& stream, const AttentionForward& kernel);
void run_wgmma(device::CudaStream& stream, const AttentionBackward& kernel);

/// cudnn: the library's (fused_attention.cpp). Whether it can is found out once for an attention
/// of one shape; why it cannot is logged once.
bool cudnn_fits(const device::CudaStream& stream, const AttentionForward& kernel);
bool cudnn_fits(const device::CudaStream& stream, const AttentionBackward& kernel);
Index cudnn_workspace_bytes(const device::CudaStream& stream, const AttentionForward& kernel);
Index cudnn_workspace_bytes(const device::CudaStream& stream, const AttentionBackward& kernel);
void run_cudnn(device::CudaStream& stream, const AttentionForward& kernel);
void run_cudnn(device::CudaStream& stream, const AttentionBackward& kernel);

/// delta = rowsum(o d_o), [b, n, s] in fp32, at the beginning of the workspace.
void run_deltas(device::CudaStream& stream, const AttentionBackward& kernel);

}  // namespace mpitron::kernels::cuda::attention
