#pragma once
#include "autograd/gradient.h"
#include "kernels/cross_entropy.h"

namespace mpitron::ops {

/// The backward pass of the loss, for all columns of the logits or for the shard of a tensor
/// parallel rank. Overwrites the logits with their gradient.
///
/// Numerical contract: kernels/cross_entropy.h.
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

}  // namespace mpitron::ops
