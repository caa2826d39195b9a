#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"
#include "kernels/linear/fp8_matmul.h"

namespace mpitron::ops {

// The products of a linear layer whose factors are brought to 8 bits (Parameter::fp8). Rows are [t,
// in] and [t, out]; values of any training type, bias as they are.
//
// Numerical contract: fp8_quantize.h and fp8_matmul.h. Gradients pass the rounding
// as if it were not there. Scales of `current` are those of the tensor that one product takes: of a
// rank's shard, of a piece of the sequence. In training the largest values of inputs and weights
// (by `multiply`) and of gradients (by `multiply_back`) are noted.

/// y = x weight^T (+ bias).
void multiply_in_fp8(autograd::Context& context, const tensor::Tensor& x,
                     const autograd::Parameter& weight, const autograd::Parameter* bias,
                     const tensor::Tensor& y);
/// dx = dy weight.
void multiply_back_in_fp8(autograd::Context& context, const tensor::Tensor& dy,
                          const autograd::Parameter& weight, const tensor::Tensor& dx);
/// sink = dy^T x, or += it.
void weight_gradient_in_fp8(autograd::Context& context, const tensor::Tensor& dy,
                            const tensor::Tensor& x, const autograd::Parameter& weight,
                            const device::TensorView& sink, bool accumulate);

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
