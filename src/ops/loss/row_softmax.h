#pragma once
#include "autograd/context.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

/// Sums of the softmax of each row of logits, [t, v_local], and of its label.
struct RowSoftmax {
  tensor::Tensor loss;  // [t], the label's
  tensor::Tensor lse;   // [t], log of the sum of exponentials
};

/// Of the whole vocabulary, of which each rank has columns in the order of the ranks.
///
/// Numerical contract: kernels/elementwise/cross_entropy.h.
RowSoftmax row_softmax(autograd::Context& context, const tensor::Tensor& logits,
                       const tensor::Tensor& labels, const TensorParallel& shared,
                       float label_smoothing = 0);

}  // namespace mpitron::ops
