#pragma once
#include "ops/loss/cross_entropy.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

/// cross_entropy of logits [s, b, v_local] of which each rank has an equal range of the vocabulary,
/// in rank order; labels are global. Every rank gets the loss of every token. The logits stay where
/// they are: the ranks exchange four numbers of each row. Smoothing speaks of the whole vocabulary.
///
/// Numerical contract: kernels/elementwise/cross_entropy.h; ranks are added in their order.
Var vocab_parallel_cross_entropy(Context& context, const Var& logits, const tensor::Tensor& labels,
                                 const TensorParallel& shared, float label_smoothing = 0);

}  // namespace mpitron::ops
