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

}  // namespace mpitron::ops
