// Squared error of rows against a target (reconstruction), and classification's count of right
// answers, which has no gradient.
#include "ops/loss/row_error.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/row_error.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

struct Backward {
  Tensor x, target;  // [t, h]
  autograd::Slot slot;
  Shape shape;
  float factor;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dx = context.empty(x.shape(), x.dtype());
    const Tensor derror = gradient.reshape({x.shape()[0]});
    context.launch(kernels::RowErrorBackward{.x = x.view(),
                                             .target = target.view(),
                                             .derror = derror.view(),
                                             .dx = dx.view(),
                                             .factor = factor});
    autograd::accumulate(context, slot, dx.reshape(shape));
  }
};

Shape without_last(const Shape& shape) {
  Shape result;
  for (int i = 0; i + 1 < shape.rank(); ++i) {
    result.push_back(shape[i]);
  }
  return result;
}

}  // namespace

Var row_error(Context& context, const Var& x, const Tensor& target, double factor) {
  const Index h = x.shape()[-1], t = x.value.numel() / h;
  const DType dtype = x.value.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor error = context.empty(without_last(x.shape()), dtype);
  const Tensor rows = x.value.reshape({t, h}), targets = target.reshape({t, h});
  const auto by = static_cast<float>(factor);
  context.launch(kernels::RowErrorForward{.x = rows.view(),
                                          .target = targets.view(),
                                          .error = error.reshape({t}).view(),
                                          .factor = by});
  Var result = autograd::variable(error);
  if (context.recording()) {
    context.record(result.slot, Backward{rows, targets, x.slot, x.shape(), by});
  }
  return result;
}

Tensor label_matches(Context& context, const Tensor& logits, const Tensor& labels) {
  const Index v = logits.shape()[-1], t = labels.numel();
  const Tensor matches = context.empty(labels.shape(), DType::f32);
  context.launch(kernels::LabelMatches{.logits = logits.reshape({t, v}).view(),
                                       .labels = labels.reshape({t}).view(),
                                       .matches = matches.reshape({t}).view()});
  return matches;
}

}  // namespace mpitron::ops
