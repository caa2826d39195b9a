#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

/// Sums over tokens, in fp64 in their order.
struct TokenSums {
  double loss = 0;    // mask * loss
  double tokens = 0;  // mask
};

/// Sums losses and their mask, fp32 of one shape, to [loss, tokens], fp64.
tensor::Tensor sum_tokens(autograd::Context& context, const tensor::Tensor& losses,
                          const tensor::Tensor& mask);
/// Reads what `sum_tokens` found; waits for the device.
TokenSums read_sums(device::Device& device, const tensor::Tensor& sums);

/// mask * factor: the gradient of `factor` times the masked sum of losses.
tensor::Tensor token_seed(autograd::Context& context, const tensor::Tensor& mask, double factor);

}  // namespace mpitron::ops
