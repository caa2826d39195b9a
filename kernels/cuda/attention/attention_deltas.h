#pragma once
#include "kernels/attention/attention.h"

namespace mpitron::kernels::cuda::attention {

/// delta = rowsum(o d_o), [b, n, s] in fp32, at the beginning of the workspace.
void run_deltas(device::CudaStream& stream, const AttentionBackward& kernel);

}  // namespace mpitron::kernels::cuda::attention
