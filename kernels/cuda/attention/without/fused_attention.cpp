// Without cuDNN's headers no attention is its.
#include "kernels/cuda/attention/attention_kernels.h"

namespace mpitron::kernels::cuda::attention {

bool cudnn_fits(const device::CudaStream&, const AttentionForward&) {
  return false;
}
bool cudnn_fits(const device::CudaStream&, const AttentionBackward&) {
  return false;
}

Index cudnn_workspace_bytes(const device::CudaStream&, const AttentionForward&) {
  return 0;
}
Index cudnn_workspace_bytes(const device::CudaStream&, const AttentionBackward&) {
  return 0;
}

void run_cudnn(device::CudaStream&, const AttentionForward&) {}
void run_cudnn(device::CudaStream&, const AttentionBackward&) {}

}  // namespace mpitron::kernels::cuda::attention
