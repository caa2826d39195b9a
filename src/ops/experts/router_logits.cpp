// Computes router logits in their own type, and the draws that replace or disturb them. The weight
// is converted for the product alone, and its gradient is added from the product in that type.
#include "ops/experts/router_logits.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "ops/elementwise/cast.h"
#include "ops/linear/linear.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

struct RouterLogitsBackward {
  Tensor x;  // [t, h]
  Slot x_slot;
  Parameter* weight;

  void operator()(Context& context, const Tensor& dy) const {
    const Tensor wide = converted(context, weight->value, dy.dtype());
    const Tensor dx = context.empty(x.shape(), dy.dtype());
    context.launch_with_workspace(
        kernels::Matmul{.a = dy.view(), .b = wide.view(), .c = dx.view()});
    const Tensor gradient = context.empty(weight->value.shape(), dy.dtype());
    const Tensor input = converted(context, x, dy.dtype());
    context.launch_with_workspace(kernels::Matmul{
        .a = dy.view(), .b = input.view(), .c = gradient.view(), .transpose_a = true});
    add_to_weight(context, gradient);
    autograd::accumulate(context, x_slot, converted(context, dx, x.dtype()));
  }

  void add_to_weight(Context& context, const Tensor& gradient) const {
    autograd::accumulate_parameter(
        context, *weight, [&](const device::TensorView& sink, bool accumulate) {
          if (accumulate) {
            context.launch(kernels::Add{.a = sink, .b = gradient.view(), .y = sink});
          } else {
            context.launch(kernels::Cast{.x = gradient.view(), .y = sink});
          }
        });
  }
};

}  // namespace

Var router_logits(Context& context, const Var& x, Parameter& weight, Parameter* bias, DType dtype) {
  if (x.value.dtype() == dtype) {
    return linear(context, x, weight, bias);
  }
  MPITRON_CHECK(bias == nullptr, weight.name);
  context.use(weight);
  const Tensor input = converted(context, x.value, dtype);
  const Tensor wide = converted(context, weight.value, dtype);
  const Tensor y = context.empty({x.shape()[0], weight.value.shape()[0]}, dtype);
  context.launch_with_workspace(
      kernels::Matmul{.a = input.view(), .b = wide.view(), .c = y.view(), .transpose_b = true});
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(result.slot, RouterLogitsBackward{x.value, x.slot, &weight});
  }
  return result;
}

namespace {

Tensor jittered(Context& context, const Tensor& x, double eps, const TokenNoise& noise) {
  const Tensor y = context.empty(x.shape(), x.dtype());
  context.launch(kernels::Jitter{
      .x = x.view(), .y = y.view(), .eps = static_cast<float>(eps), .noise = noise});
  return y;
}

}  // namespace

TokenNoise token_noise(const Context& context, const TensorParallel& shared, Index s_local, Index b,
                       const autograd::RngKey& key) {
  kernels::GlobalIndexMap index{.sequence = context.position.sequence,
                                .sample_offset = context.position.first_sample,
                                .sample_stride = context.position.sample_stride};
  if (shared.cuts_sequence()) {
    index = index.from(shared.rank() * s_local);
  }
  return {.key = key.philox(),
          .index = index,
          .batch = b,
          .replayed = {context.position.replayed, key.place()}};
}

Var jitter(Context& context, const Var& x, double eps, const TokenNoise& noise) {
  Var result = autograd::variable(jittered(context, x.value, eps, noise));
  if (context.recording()) {
    context.record(result.slot,
                   [slot = x.slot, eps, noise](Context& inner, const Tensor& gradient) {
                     autograd::accumulate(inner, slot, jittered(inner, gradient, eps, noise));
                   });
  }
  return result;
}

Tensor random_logits(Context& context, const Tensor& logits, const TokenNoise& noise) {
  const Tensor y = context.empty(logits.shape(), logits.dtype());
  context.launch(kernels::RandomLogits{.logits = y.view(), .noise = noise});
  return y;
}

}  // namespace mpitron::ops
