#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"
#include "kernels/linear/fp8_matmul.h"

namespace mpitron::ops {

/// A factor of a product, and what it is made from.
struct Factor {
  const tensor::Tensor& numbers;  // [t, h]
  autograd::Fp8Products::Role role;
  /// Whether the product sums over t: then its factor is [h, t].
  bool transpose = false;
  bool noted = false;  // its largest value is told to the step, in training
};

/// Numbers of 8 bits, and what their scales follow from.
struct Quantized {
  tensor::Tensor values;
  tensor::Tensor amax_memory;  // absent where somebody else's
  kernels::Fp8Factor factor;
};

/// Contract: kernels/linear/fp8_quantize.h, with the scales that `fp8` says.
Quantized quantize(autograd::Context& context, const autograd::Fp8Products& fp8,
                   const Factor& factor);

/// The same of a weight, once for all products of a pass where its numbers are kept
/// (Fp8Products::kept). The forward pass (without `transpose`) notes its largest value.
Quantized quantize_weight(autograd::Context& context, const autograd::Parameter& weight,
                          bool transpose = false);

}  // namespace mpitron::ops
