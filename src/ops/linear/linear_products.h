#pragma once
#include "autograd/gradient.h"

namespace mpitron::ops {

// The three products of a linear layer, which all its forms share. Rows are [t, in] and [t, out].
// Contract: ops/linear/linear.h.

/// y = x weight^T (+ bias).
void multiply(autograd::Context& context, const tensor::Tensor& x,
              const autograd::Parameter& weight, const autograd::Parameter* bias,
              const tensor::Tensor& y);
/// dx = dy weight.
void multiply_back(autograd::Context& context, const tensor::Tensor& dy,
                   const autograd::Parameter& weight, const tensor::Tensor& dx);

/// x weight^T (+ bias); notes the use of both.
tensor::Tensor linear_output(autograd::Context& context, const tensor::Tensor& x,
                             autograd::Parameter& weight, autograd::Parameter* bias);
/// dy weight.
tensor::Tensor linear_input_gradient(autograd::Context& context, const tensor::Tensor& dy,
                                     const autograd::Parameter& weight);
/// Adds dy^T x to the weight's gradient.
void accumulate_weight(autograd::Context& context, autograd::Parameter& weight,
                       const tensor::Tensor& dy, const tensor::Tensor& x);
/// The same at once or, where the context defers it, later; and the rows of dy to the bias's.
void accumulate_linear(autograd::Context& context, autograd::Parameter& weight,
                       autograd::Parameter* bias, const tensor::Tensor& dy,
                       const tensor::Tensor& x);

}  // namespace mpitron::ops
