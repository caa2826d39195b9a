#pragma once
#include "autograd/context.h"
#include "autograd/gradient.h"
#include "kernels/elementwise/cross_entropy.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// The loss of every token, [s, b] fp32, from logits [s, b, v] and labels [s, b] int64. Backward
/// overwrites the logits, the largest buffer of a step, with their gradient.
///
/// Numerical contract: kernels/elementwise/cross_entropy.h.
Var cross_entropy(Context& context, const Var& logits, const tensor::Tensor& labels,
                  float label_smoothing = 0);

/// The backward pass of the loss, for all columns of the logits or for the shard of a tensor
/// parallel rank. Overwrites the logits with their gradient.
///
/// Numerical contract: kernels/elementwise/cross_entropy.h.
struct CrossEntropyBackward {
  tensor::Tensor logits, labels, lse;  // [t, v_local], [t], [t]
  autograd::Slot logits_slot;
  Shape shape;
  float label_smoothing = 0;
  Index first_column = 0;
  Index vocabulary = 0;  // 0: all columns lie here

  void operator()(autograd::Context& context, const tensor::Tensor& gradient) const {
    const tensor::Tensor dloss = gradient.reshape({labels.numel()});
    context.launch(kernels::CrossEntropyBackward{.logits = logits.view(),
                                                 .labels = labels.view(),
                                                 .lse = lse.view(),
                                                 .dloss = dloss.view(),
                                                 .dlogits = logits.view(),
                                                 .label_smoothing = label_smoothing,
                                                 .first_column = first_column,
                                                 .vocabulary = vocabulary});
    autograd::accumulate(context, logits_slot, logits.reshape(shape));
  }
};

/// cross_entropy of logits [s, b, v_local] of which each rank has an equal range of the vocabulary,
/// in rank order; labels are global. Every rank gets the loss of every token. The logits stay where
/// they are: the ranks exchange four numbers of each row. Smoothing speaks of the whole vocabulary.
///
/// Numerical contract: kernels/elementwise/cross_entropy.h; ranks are added in their order.
Var vocab_parallel_cross_entropy(Context& context, const Var& logits, const tensor::Tensor& labels,
                                 const TensorParallel& shared, float label_smoothing = 0);

}  // namespace mpitron::ops
