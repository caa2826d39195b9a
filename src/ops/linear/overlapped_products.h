#pragma once
#include <functional>

#include "autograd/context.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

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
