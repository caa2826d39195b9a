// Multiplies by a constant, forward and backward by the same kernel.
#include "ops/elementwise/scaled.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {
namespace {

tensor::Tensor times(autograd::Context& context, const tensor::Tensor& x, float factor) {
  const tensor::Tensor y = context.empty(x.shape(), x.dtype());
  context.launch(kernels::Scale{.x = x.view(), .y = y.view(), .factor = factor});
  return y;
}

}  // namespace

autograd::Var scaled(autograd::Context& context, const autograd::Var& x, double factor) {
  const auto by = static_cast<float>(factor);
  autograd::Var result = autograd::variable(times(context, x.value, by));
  if (context.recording()) {
    context.record(result.slot,
                   [slot = x.slot, by](autograd::Context& inner, const tensor::Tensor& gradient) {
                     autograd::accumulate(inner, slot, times(inner, gradient, by));
                   });
  }
  return result;
}

}  // namespace mpitron::ops
