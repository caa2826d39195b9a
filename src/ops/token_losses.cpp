#include "ops/token_losses.h"

#include "kernels/elementwise.h"

namespace mpitron::ops {

using tensor::Tensor;

TokenSums sum_tokens(autograd::Context& context, const Tensor& losses, const Tensor& mask) {
  const Tensor sums = context.empty({2}, DType::f64);
  context.launch(kernels::MaskedSum{.x = losses.view(), .mask = mask.view(), .y = sums.view()});
  return {.loss = sums.data<double>()[0], .tokens = sums.data<double>()[1]};
}

Tensor token_seed(autograd::Context& context, const Tensor& mask, double factor) {
  const Tensor seed = context.empty(mask.shape(), DType::f32);
  context.launch(
      kernels::Scale{.x = mask.view(), .y = seed.view(), .factor = static_cast<float>(factor)});
  return seed;
}

}  // namespace mpitron::ops
