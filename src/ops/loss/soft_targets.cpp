// Losses against soft targets of a teacher, as in DINO: sharpened by temperature and centred on the
// teacher's side, without a gradient there.
#include "ops/loss/soft_targets.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/soft_targets.h"
#include "kernels/linear/matmul.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Context;
using tensor::Tensor;

struct SoftCrossEntropyNode {
  Tensor logits, lse;  // [t, v], [t]
  SoftTargets targets;
  autograd::Slot slot;
  Shape shape;
  float temperature;

  void operator()(Context& context, const Tensor& gradient) const {
    context.launch(kernels::SoftTargetBackward{.logits = logits.view(),
                                               .targets = targets.probabilities.view(),
                                               .sources = targets.sources.view(),
                                               .lse = lse.view(),
                                               .dloss = gradient.view(),
                                               .dlogits = logits.view(),
                                               .temperature = temperature});
    autograd::accumulate(context, slot, logits.reshape(shape));
  }
};

DType exact_type(const Tensor& x) {
  return x.dtype() == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace

Tensor sharp_softmax(Context& context, const Tensor& x, const Tensor& centre, double temperature) {
  const Tensor rows = fold_rows(x), y = context.empty(rows.shape(), exact_type(x));
  context.launch(kernels::SharpSoftmax{.x = rows.view(),
                                       .centre = centre.view(),
                                       .y = y.view(),
                                       .temperature = static_cast<float>(temperature)});
  return y.reshape(x.shape());
}

void move_centre(Context& context, const Tensor& centre, const Tensor& rows, comm::Group& group,
                 double momentum) {
  const Tensor mean = context.empty(centre.shape(), DType::f32);
  context.launch_with_workspace(kernels::BiasGradient{.dy = rows.view(), .db = mean.view()});
  group.all_reduce(mean.view()).wait();
  const double count = static_cast<double>(rows.shape()[0] * group.size());
  context.launch(
      kernels::Scale{.x = mean.view(), .y = mean.view(), .factor = static_cast<float>(1 / count)});
  context.launch(kernels::MovingAverage{
      .average = centre.view(), .x = mean.view(), .momentum = static_cast<float>(momentum)});
}

autograd::Var soft_cross_entropy(Context& context, const autograd::Var& logits,
                                 const SoftTargets& targets, double temperature) {
  const Tensor rows = fold_rows(logits.value);
  const Index t = rows.shape()[0];
  const Tensor loss = context.empty({t}, exact_type(rows)),
               lse = context.empty({t}, exact_type(rows));
  const auto by = static_cast<float>(temperature);
  context.launch(kernels::SoftTargetForward{.logits = rows.view(),
                                            .targets = targets.probabilities.view(),
                                            .sources = targets.sources.view(),
                                            .loss = loss.view(),
                                            .lse = lse.view(),
                                            .temperature = by});
  autograd::Var result = autograd::variable(loss);
  if (context.recording()) {
    context.record(result.slot,
                   SoftCrossEntropyNode{rows, lse, targets, logits.slot, logits.shape(), by});
  }
  return result;
}

}  // namespace mpitron::ops
