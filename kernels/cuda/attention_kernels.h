#pragma once
#include "kernels/attention.h"

// The kernels that a GPU has for one attention; attention_choice.cpp decides which of them runs.
namespace mpitron::kernels::cuda::attention {

/// mma: products of a warp, for every attention (attention_forward.cu, attention_backward.cu).
void run_mma(device::CudaStream& stream, const AttentionForward& kernel);
void run_mma(device::CudaStream& stream, const AttentionBackward& kernel);
Index mma_workspace_bytes(const device::CudaStream& stream, const AttentionBackward& kernel);

/// cudnn: the library's (fused_attention.cpp). Whether it can is found out once for an attention
/// of one shape; why it cannot is logged once.
bool cudnn_fits(const device::CudaStream& stream, const AttentionForward& kernel);
bool cudnn_fits(const device::CudaStream& stream, const AttentionBackward& kernel);
Index cudnn_workspace_bytes(const device::CudaStream& stream, const AttentionForward& kernel);
Index cudnn_workspace_bytes(const device::CudaStream& stream, const AttentionBackward& kernel);
void run_cudnn(device::CudaStream& stream, const AttentionForward& kernel);
void run_cudnn(device::CudaStream& stream, const AttentionBackward& kernel);

}  // namespace mpitron::kernels::cuda::attention
