#include "kernels/attention/attention_choice.h"
#include "kernels/linear/gemm_choice.h"
#include "train/tuning/kernel_tuning.h"

namespace mpitron::train {
namespace {

using config::AttentionBackend;
using kernels::AttentionKernel;

/// Returns the order of kernels for a shape without a choice of its own.
std::vector<AttentionKernel> order_of(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::fused:
      return {AttentionKernel::cudnn, AttentionKernel::wgmma, AttentionKernel::mma};
    case AttentionBackend::unfused:
    case AttentionBackend::local:
      return {AttentionKernel::mma};
    default:
      return {AttentionKernel::wgmma, AttentionKernel::mma};
  }
}

/// Puts the kernel named by --attention-kernel before the one that runs every attention.
std::vector<AttentionKernel> order_of(const std::string& name, AttentionBackend backend) {
  for (const AttentionKernel kernel : kernels::kAttentionKernels) {
    if (name == name_of(kernel)) {
      return {kernel, AttentionKernel::mma};
    }
  }
  return order_of(backend);
}

}  // namespace

/// Applies options that hold for all shapes; a tuning file may know better for single ones.
KernelChoice::KernelChoice(device::Device& device, const config::TrainingConfig& training,
                           AttentionBackend backend) {
  kernels::attention_choices() = {.order = order_of(training.attention_kernel, backend),
                                  .by_shape = {}};
  for (const kernels::MatmulKernel kernel : kernels::kMatmulKernels) {
    if (training.matmul_kernel == name_of(kernel)) {
      kernels::matmul_kernel() = kernel;
    }
  }
  if (training.device_synchronize) {
    check_.emplace(device);
  }
}

}  // namespace mpitron::train
