#include "ops/loss/cross_entropy.h"

namespace mpitron::ops {

using tensor::Tensor;

Var cross_entropy(Context& context, const Var& logits, const Tensor& labels,
                  float label_smoothing) {
  const Index t = labels.numel(), v = logits.shape()[-1];
  const DType dtype = logits.value.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor loss = context.empty(labels.shape(), dtype), lse = context.empty({t}, dtype);
  const Tensor rows = logits.value.reshape({t, v}), flat_labels = labels.reshape({t});
  context.launch(kernels::CrossEntropyForward{.logits = rows.view(),
                                              .labels = flat_labels.view(),
                                              .loss = loss.reshape({t}).view(),
                                              .lse = lse.view(),
                                              .label_smoothing = label_smoothing});
  Var result = autograd::variable(loss);
  if (context.recording()) {
    context.record(result.slot, CrossEntropyBackward{rows, flat_labels, lse, logits.slot,
                                                     logits.shape(), label_smoothing});
  }
  return result;
}

Var vocab_parallel_cross_entropy(Context& context, const Var& logits, const Tensor& labels,
                                 const TensorParallel& shared, float label_smoothing) {
  if (!shared.shared()) {
    return cross_entropy(context, logits, labels, label_smoothing);
  }
  const Index t = labels.numel(), v_local = logits.shape()[-1];
  const Index first_column = shared.rank() * v_local, vocabulary = shared.size() * v_local;
  const DType dtype = logits.value.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor rows = logits.value.reshape({t, v_local}), flat_labels = labels.reshape({t});
  const Tensor mine = context.empty({t, 4}, dtype);
  const Tensor all = context.empty({shared.size(), t, 4}, dtype);
  context.launch(kernels::CrossEntropySums{.logits = rows.view(),
                                           .labels = flat_labels.view(),
                                           .sums = mine.view(),
                                           .first_column = first_column,
                                           .plain_sum = label_smoothing != 0});
  shared.group->all_gather(mine, all.view()).wait();
  const Tensor loss = context.empty(labels.shape(), dtype), lse = context.empty({t}, dtype);
  context.launch(kernels::CrossEntropyJoin{.sums = all.view(),
                                           .labels = flat_labels.view(),
                                           .loss = loss.reshape({t}).view(),
                                           .lse = lse.view(),
                                           .vocabulary = vocabulary,
                                           .label_smoothing = label_smoothing});
  Var result = autograd::variable(loss);
  if (context.recording()) {
    context.record(result.slot,
                   CrossEntropyBackward{rows, flat_labels, lse, logits.slot, logits.shape(),
                                        label_smoothing, first_column, vocabulary});
  }
  return result;
}

}  // namespace mpitron::ops
