#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

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

}  // namespace mpitron::ops
