#include "ops/cross_entropy.h"

#include "autograd/gradient.h"
#include "kernels/cross_entropy.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

struct CrossEntropyBackward {
  Tensor logits, labels, lse;  // [t, v], [t], [t]
  Slot logits_slot;
  Shape shape;
  float label_smoothing;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor dloss = gradient.reshape({labels.numel()});
    context.launch(kernels::CrossEntropyBackward{.logits = logits.view(),
                                                 .labels = labels.view(),
                                                 .lse = lse.view(),
                                                 .dloss = dloss.view(),
                                                 .dlogits = logits.view(),
                                                 .label_smoothing = label_smoothing});
    autograd::accumulate(context, logits_slot, logits.reshape(shape));
  }
};

}  // namespace

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
    context.tape->record(result.slot, CrossEntropyBackward{rows, flat_labels, lse, logits.slot,
                                                           logits.shape(), label_smoothing});
  }
  return result;
}

}  // namespace mpitron::ops
