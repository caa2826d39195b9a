// Cross entropy of logits whose columns may lie on several ranks. The backward pass writes over the
// logits, so they must have no other user.
#include "ops/loss/cross_entropy.h"

#include "ops/loss/row_softmax.h"

namespace mpitron::ops {

using tensor::Tensor;

Var vocab_parallel_cross_entropy(Context& context, const Var& logits, const Tensor& labels,
                                 const TensorParallel& shared, float label_smoothing) {
  const Index t = labels.numel(), v_local = logits.shape()[-1];
  const Tensor rows = logits.value.reshape({t, v_local}), flat_labels = labels.reshape({t});
  const RowSoftmax softmax = row_softmax(context, rows, flat_labels, shared, label_smoothing);
  Var result = autograd::variable(softmax.loss.reshape(labels.shape()));
  if (context.recording()) {
    CrossEntropyBackward backward{rows,        flat_labels,    softmax.lse,
                                  logits.slot, logits.shape(), label_smoothing};
    if (shared.shared()) {
      backward.first_column = shared.rank() * v_local;
      backward.vocabulary = shared.size() * v_local;
    }
    context.record(result.slot, std::move(backward));
  }
  return result;
}

Var cross_entropy(Context& context, const Var& logits, const Tensor& labels,
                  float label_smoothing) {
  return vocab_parallel_cross_entropy(context, logits, labels, {}, label_smoothing);
}

}  // namespace mpitron::ops
