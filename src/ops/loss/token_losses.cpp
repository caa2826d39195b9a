// Sums losses over the tokens that a mask counts, in fp64, and makes the seeds that begin a
// backward pass: the mask times a factor that the caller makes of loss scale and counts.
#include "ops/loss/token_losses.h"

#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"

namespace mpitron::ops {

using tensor::Tensor;

Tensor sum_tokens(autograd::Context& context, const Tensor& losses, const Tensor& mask) {
  const Tensor sums = context.empty({2}, DType::f64);
  context.launch(kernels::MaskedSum{.x = losses.view(), .mask = mask.view(), .y = sums.view()});
  return sums;
}

TokenSums read_sums(device::Device& device, const Tensor& sums) {
  const Tensor known = tensor::to_host(device, sums);
  return {.loss = known.data<double>()[0], .tokens = known.data<double>()[1]};
}

Tensor token_seed(autograd::Context& context, const Tensor& mask, double factor) {
  const Tensor seed = context.empty(mask.shape(), DType::f32);
  context.launch(
      kernels::Scale{.x = mask.view(), .y = seed.view(), .factor = static_cast<float>(factor)});
  return seed;
}

}  // namespace mpitron::ops
