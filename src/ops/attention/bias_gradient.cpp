#include "autograd/gradient.h"
#include "kernels/attention/attention_sink.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/attention/attention_block.h"

// The gradient of a bias of attention's scores.

namespace mpitron::ops {
namespace {

using device::TensorView;
using tensor::Tensor;

}  // namespace

BiasGradient::BiasGradient(Context& context, const AttentionSettings& settings, Index samples)
    : settings_(settings) {
  if (const Tensor& bias = settings.bias.value) {
    samples_ =
        context.empty({samples, bias.shape()[0], settings.layout.heads}, wide_type(bias.dtype()));
  }
}

TensorView BiasGradient::view() const {
  if (!samples_) {
    return {};
  }
  const Index distances = samples_.shape()[1], n = samples_.shape()[2];
  return {samples_.view().data,
          samples_.dtype(),
          {samples_.shape()[0], n, distances},
          {distances * n, 1, n}};
}

void BiasGradient::accumulate(Context& context) const {
  if (!samples_) {
    return;
  }
  const Tensor& bias = settings_.bias.value;
  const Shape own = {samples_.shape()[1], 1, samples_.shape()[2]};
  const Tensor sum = samples_.slice(0, 0, 1).reshape(own);
  for (Index sample = 1; sample < samples_.shape()[0]; ++sample) {
    context.launch(kernels::Add{.a = sum.view(),
                                .b = samples_.slice(0, sample, sample + 1).reshape(own).view(),
                                .y = sum.view()});
  }
  const Tensor gradient = context.empty(bias.shape(), bias.dtype());
  context.launch(kernels::Fill{.x = gradient.view()});
  const Index first = settings_.first_head;
  context.launch(
      kernels::Cast{.x = sum.view(), .y = gradient.slice(2, first, first + own[2]).view()});
  autograd::accumulate(context, settings_.bias.slot, gradient);
}

}  // namespace mpitron::ops
