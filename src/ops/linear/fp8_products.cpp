#include "ops/linear/fp8_products.h"

#include "ops/elementwise/bias.h"
#include "ops/linear/fp8_factors.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Fp8Products;
using autograd::Parameter;
using device::TensorView;
using tensor::Tensor;

namespace {

/// c = a b^T (+ bias), or c += a b^T.
void multiply_factors(Context& context, const Quantized& a, const Quantized& b,
                      kernels::Fp8Matmul product) {
  product.a = a.factor;
  product.b = b.factor;
  context.launch_with_workspace(product);
}

}  // namespace

void multiply_in_fp8(Context& context, const Tensor& x, const Parameter& weight,
                     const Parameter* bias, const Tensor& y) {
  const Quantized input =
      quantize(context, *weight.fp8, {.numbers = x, .role = Fp8Products::input, .noted = true});
  multiply_factors(context, input, quantize_weight(context, weight),
                   {.a = {}, .b = {}, .bias = value_of(bias), .c = y.view(), .workspace = {}});
}

void multiply_back_in_fp8(Context& context, const Tensor& dy, const Parameter& weight,
                          const Tensor& dx) {
  const Quantized gradient =
      quantize(context, *weight.fp8, {.numbers = dy, .role = Fp8Products::gradient, .noted = true});
  multiply_factors(context, gradient, quantize_weight(context, weight, true),
                   {.a = {}, .b = {}, .bias = {}, .c = dx.view(), .workspace = {}});
}

void weight_gradient_in_fp8(Context& context, const Tensor& dy, const Tensor& x,
                            const Parameter& weight, const TensorView& sink, bool accumulate) {
  const Fp8Products& fp8 = *weight.fp8;
  const Quantized gradient =
      quantize(context, fp8, {.numbers = dy, .role = Fp8Products::gradient, .transpose = true});
  const Quantized input =
      quantize(context, fp8, {.numbers = x, .role = Fp8Products::input, .transpose = true});
  multiply_factors(
      context, gradient, input,
      {.a = {}, .b = {}, .bias = {}, .c = sink, .workspace = {}, .accumulate = accumulate});
}

}  // namespace mpitron::ops
