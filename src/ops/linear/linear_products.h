#pragma once
#include <functional>

#include "autograd/context.h"
#include "autograd/gradient.h"
#include "ops/parallel/tensor_parallel.h"

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

// Products of a linear layer in pieces, so that a piece is computed while others travel between the
// ranks that share the layer (Wang et al. 2023). Pieces are rows of the sequence: every element is
// the sum that one product would have, in the same order.

/// Writes y [t, out] from x [t, in].
using Multiply = std::function<void(const tensor::Tensor& x, const tensor::Tensor& y)>;

/// All ranks' pieces of x [s_local, b, in] joined, [s, b, in], and multiplied, [s, b, out].
struct GatheredProduct {
  tensor::Tensor x, y;
};
/// Own rows first, then those of the following ranks as they arrive.
GatheredProduct gather_and_multiply(autograd::Context& context, const tensor::Tensor& x, Index out,
                                    const TensorParallel& shared, const Multiply& multiply);

/// This rank's rows, [s_local, b, out], of the sum over the ranks of their products of x [s, b,
/// in]. While a piece is computed the one before it is summed.
tensor::Tensor multiply_and_scatter(autograd::Context& context, const tensor::Tensor& x, Index out,
                                    const TensorParallel& shared, const Multiply& multiply);

}  // namespace mpitron::ops
