// Computes router logits in their own type, and the draws that replace or disturb them. Weight and
// bias are converted for the product alone, and their gradients are added from products in that
// type.
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
  Parameter* bias;

  void operator()(Context& context, const Tensor& dy) const {
    const Tensor wide = converted(context, weight->value, dy.dtype());
    const Tensor dx = context.empty(x.shape(), dy.dtype());
    context.launch_with_workspace(
        kernels::Matmul{.a = dy.view(), .b = wide.view(), .c = dx.view()});
    add_product(context, *weight, dy, converted(context, x, dy.dtype()));
    if (bias != nullptr) {  // its input is 1
      const Tensor ones = context.empty({dy.shape()[0], 1}, dy.dtype());
      context.launch(kernels::Fill{.x = ones.view(), .value = 1});
      add_product(context, *bias, dy, ones);
    }
    autograd::accumulate(context, x_slot, converted(context, dx, x.dtype()));
  }

  /// Adds dy^T x to a parameter's gradient.
  static void add_product(Context& context, Parameter& parameter, const Tensor& dy,
                          const Tensor& x) {
    const Tensor product = context.empty({dy.shape()[1], x.shape()[1]}, dy.dtype());
    context.launch_with_workspace(
        kernels::Matmul{.a = dy.view(), .b = x.view(), .c = product.view(), .transpose_a = true});
    const Tensor gradient = product.reshape(parameter.value.shape());
    autograd::accumulate_parameter(
        context, parameter, [&](const device::TensorView& sink, bool accumulate) {
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
  context.use(weight);
  const Tensor input = converted(context, x.value, dtype);
  const Tensor wide = converted(context, weight.value, dtype);
  Tensor wide_bias;
  const Tensor y = context.empty({x.shape()[0], weight.value.shape()[0]}, dtype);
  kernels::Matmul product{.a = input.view(), .b = wide.view(), .c = y.view(), .transpose_b = true};
  if (bias != nullptr) {
    context.use(*bias);
    wide_bias = converted(context, bias->value, dtype);
    product.bias = wide_bias.view();
  }
  context.launch_with_workspace(product);
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(result.slot, RouterLogitsBackward{x.value, x.slot, &weight, bias});
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
