// The loss of direct preference optimisation: token losses are summed over each column with signs,
// ranks that share sequences add their sums, and the logistic loss of the pair has the slope by
// which the gradient goes back.
#include "ops/loss/preference_loss.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/preference.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

struct PreferenceGradient {
  Tensor weights, slope;
  autograd::Slot slot;
  double ranks = 1;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dx = context.empty(weights.shape(), slope.dtype());
    context.launch(kernels::PreferenceBackward{.weights = weights.view(),
                                               .slope = slope.view(),
                                               .dloss = gradient.reshape(slope.shape()).view(),
                                               .dx = dx.view(),
                                               .factor = ranks});
    autograd::accumulate(context, slot, dx);
  }
};

}  // namespace

PreferenceLosses preference_loss(Context& context, const Var& losses, const PreferencePairs& pairs,
                                 comm::Group& context_group) {
  const Index b = losses.shape()[1];
  const DType dtype = losses.value.dtype();
  const Tensor sums = context.empty({b}, DType::f64), slope = context.empty({b}, dtype);
  context.launch(kernels::WeightedColumnSums{
      .x = losses.value.view(), .weights = pairs.weights.view(), .sums = sums.view()});
  context_group.all_reduce(sums.view()).wait();
  const auto result = [&] { return context.empty({1, b}, dtype); };
  const Tensor loss = result(), margin = result(), right = result();
  context.launch(kernels::PreferenceForward{.sums = sums.view(),
                                            .reference = pairs.reference.view(),
                                            .loss = loss.reshape({b}).view(),
                                            .margin = margin.reshape({b}).view(),
                                            .right = right.reshape({b}).view(),
                                            .slope = slope.view(),
                                            .beta = pairs.beta,
                                            .label_smoothing = pairs.label_smoothing});
  PreferenceLosses told{.loss = autograd::variable(loss), .margin = margin, .right = right};
  if (context.recording()) {
    context.record(told.loss.slot, PreferenceGradient{pairs.weights, slope, losses.slot,
                                                      static_cast<double>(context_group.size())});
  }
  return told;
}

}  // namespace mpitron::ops
