#include "ops/linear/linear_products.h"

#include "autograd/cached_pass.h"
#include "kernels/linear/matmul.h"
#include "kernels/linear/packed_matmul.h"
#include "ops/elementwise/bias.h"
#include "ops/linear/fp8_products.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using tensor::Tensor;

namespace {

/// By a weight that is packed for generation.
void multiply_packed(Context& context, const Tensor& x, const Parameter& weight,
                     const Parameter* bias, const Tensor& y) {
  kernels::PackedMatmul product{.x = x.view(),
                                .packed = context.cached->weights.of(weight).view(),
                                .bias = {},
                                .y = y.view(),
                                .workspace = {},
                                .format = context.cached->weights.format()};
  if (bias != nullptr) {
    product.bias = bias->value.view();
  }
  context.launch_with_workspace(product);
}

}  // namespace

void multiply(Context& context, const Tensor& x, const Parameter& weight, const Parameter* bias,
              const Tensor& y) {
  MPITRON_CHECK(x.shape()[1] == weight.value.shape()[1], to_string(x.shape()), weight.name);
  if (context.cached != nullptr && context.cached->weights.packs()) {
    return multiply_packed(context, x, weight, bias, y);
  }
  if (weight.fp8) {
    return multiply_in_fp8(context, x, weight, bias, y);
  }
  kernels::Matmul product{
      .a = x.view(), .b = weight.value.view(), .c = y.view(), .transpose_b = true};
  if (bias != nullptr) {
    product.bias = bias->value.view();
  }
  context.launch_with_workspace(product);
}

void multiply_back(Context& context, const Tensor& dy, const Parameter& weight, const Tensor& dx) {
  if (weight.fp8) {
    return multiply_back_in_fp8(context, dy, weight, dx);
  }
  context.launch_with_workspace(
      kernels::Matmul{.a = dy.view(), .b = weight.value.view(), .c = dx.view()});
}

Tensor linear_output(Context& context, const Tensor& x, Parameter& weight, Parameter* bias) {
  context.use(weight);
  if (bias != nullptr) {
    context.use(*bias);
  }
  const Tensor y = context.empty({x.shape()[0], weight.value.shape()[0]}, x.dtype());
  multiply(context, x, weight, bias, y);
  return y;
}

Tensor linear_input_gradient(Context& context, const Tensor& dy, const Parameter& weight) {
  const Tensor dx = context.empty({dy.shape()[0], weight.value.shape()[1]}, dy.dtype());
  multiply_back(context, dy, weight, dx);
  return dx;
}

void accumulate_weight(Context& context, Parameter& weight, const Tensor& dy, const Tensor& x) {
  autograd::accumulate_parameter(
      context, weight, [&](const device::TensorView& sink, bool accumulate) {
        if (weight.fp8 && weight.fp8->weight_gradient) {
          return weight_gradient_in_fp8(context, dy, x, weight, sink, accumulate);
        }
        context.launch_with_workspace(kernels::Matmul{.a = dy.view(),
                                                      .b = x.view(),
                                                      .c = sink,
                                                      .transpose_a = true,
                                                      .accumulate = accumulate});
      });
}

void accumulate_linear(Context& context, Parameter& weight, Parameter* bias, const Tensor& dy,
                       const Tensor& x) {
  if (autograd::defers(context, weight)) {
    context.recorder.deferred->add(
        weight, [&weight, dy, x](Context& later) { accumulate_weight(later, weight, dy, x); });
  } else {
    accumulate_weight(context, weight, dy, x);
  }
  accumulate_bias(context, bias, dy);
}

}  // namespace mpitron::ops
