#include "ops/loss/row_softmax.h"

#include "kernels/elementwise/cross_entropy.h"

// The softmax of rows whose columns may lie on several ranks. Each rank reduces its columns to four
// numbers a row (largest, sum of exponentials, the label's logit, plain sum), which are gathered
// and joined alike everywhere: one message of 4 t numbers instead of three all-reduces.

namespace mpitron::ops {

using tensor::Tensor;

RowSoftmax row_softmax(autograd::Context& context, const Tensor& logits, const Tensor& labels,
                       const TensorParallel& shared, float label_smoothing) {
  const Index t = labels.numel(), v_local = logits.shape()[-1];
  const DType dtype = logits.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const RowSoftmax result{.loss = context.empty({t}, dtype), .lse = context.empty({t}, dtype)};
  if (!shared.shared()) {
    context.launch(kernels::CrossEntropyForward{.logits = logits.view(),
                                                .labels = labels.view(),
                                                .loss = result.loss.view(),
                                                .lse = result.lse.view(),
                                                .label_smoothing = label_smoothing});
    return result;
  }
  const Tensor mine = context.empty({t, 4}, dtype);
  const Tensor all = context.empty({shared.size(), t, 4}, dtype);
  context.launch(kernels::CrossEntropySums{.logits = logits.view(),
                                           .labels = labels.view(),
                                           .sums = mine.view(),
                                           .first_column = shared.rank() * v_local,
                                           .plain_sum = label_smoothing != 0});
  shared.group->all_gather(mine, all.view()).wait();
  context.launch(kernels::CrossEntropyJoin{.sums = all.view(),
                                           .labels = labels.view(),
                                           .loss = result.loss.view(),
                                           .lse = result.lse.view(),
                                           .vocabulary = shared.size() * v_local,
                                           .label_smoothing = label_smoothing});
  return result;
}

}  // namespace mpitron::ops
