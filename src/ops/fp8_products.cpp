#include "ops/fp8_products.h"

#include "kernels/fp8_matmul.h"
#include "ops/bias.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Fp8Products;
using autograd::Parameter;
using device::TensorView;
using tensor::Tensor;

namespace {

constexpr Index kBlock = 128;
/// What GPUs want to divide the number of rows that a weight's gradient sums over.
constexpr Index kRows = 16;

/// A factor of a product, and what it was made from.
struct Factor {
  const Tensor& numbers;  // [t, h]
  Fp8Products::Role role;
  /// Whether the product sums over t: then its factor is [h, t].
  bool transpose = false;
  bool noted = false;  // its largest value is told to the step
};

/// Numbers of 8 bits, and what their scales follow from.
struct Quantized {
  Tensor values;
  Tensor amax_memory;  // absent where somebody else's
  kernels::Fp8Factor factor;
};

/// Number `i` of contiguous memory, as a matrix.
TensorView number_of(const TensorView& numbers, Index i) {
  return {numbers.as<float>() + i, DType::f32, {1, 1}};
}

/// The same numbers seen as the transposed matrix.
device::ConstTensorView transposed(const device::ConstTensorView& x) {
  return {x.data, x.dtype, {x.size(1), x.size(0)}, {x.stride(1), x.stride(0)}};
}

Fp8Scaling scaling_of(const Fp8Products& fp8, Fp8Products::Role role) {
  return {.format = role == Fp8Products::gradient ? fp8.gradient_format : Fp8Format::e4m3,
          .power_of_two = fp8.scaling == Fp8Products::Scaling::blocks,
          .margin = fp8.scaling == Fp8Products::Scaling::delayed ? fp8.margin : 0};
}

/// Of the numbers as they lie: along the dimension that is summed over.
kernels::Fp8Blocks blocks_of(const Fp8Products& fp8, const Factor& factor) {
  if (fp8.scaling != Fp8Products::Scaling::blocks) {
    return {};
  }
  if (factor.role == Fp8Products::weight) {
    return {kBlock, kBlock};
  }
  return factor.transpose ? kernels::Fp8Blocks{kBlock, 1} : kernels::Fp8Blocks{1, kBlock};
}

/// The largest values that scales follow from; those of delayed scales are known, and this step's
/// are noted for the next.
Tensor find_amax(Context& context, const Fp8Products& fp8, const Factor& factor,
                 const kernels::Fp8Blocks& blocks) {
  const Tensor& x = factor.numbers;
  if (fp8.scaling != Fp8Products::Scaling::delayed) {
    const Tensor amax =
        context.empty({blocks.down(x.shape()[0]), blocks.across(x.shape()[1])}, DType::f32);
    context.launch_with_workspace(kernels::Fp8Amax{x.view(), amax.view(), {}, blocks});
    return amax;
  }
  if (factor.noted && context.training() && fp8.amax) {
    context.launch_with_workspace(kernels::Fp8Amax{.x = x.view(),
                                                   .amax = number_of(fp8.amax.view(), factor.role),
                                                   .workspace = {},
                                                   .accumulate = true});
  }
  return {};
}

Quantized quantize(Context& context, const Fp8Products& fp8, const Factor& factor) {
  const kernels::Fp8Blocks blocks = blocks_of(fp8, factor);
  const Fp8Scaling scaling = scaling_of(fp8, factor.role);
  const Tensor found = find_amax(context, fp8, factor, blocks);
  const device::ConstTensorView amax =
      found ? found.view()
            : number_of(fp8.history->value.view(), factor.role * fp8.history->shape[1]);
  const Shape& shape = factor.numbers.shape();
  const bool fills_up = factor.transpose && factor.role != Fp8Products::weight;
  const Index rows = fills_up ? (shape[0] + kRows - 1) / kRows * kRows : shape[0];
  const Tensor values =
      context.empty(factor.transpose ? Shape{shape[1], rows} : Shape{rows, shape[1]}, DType::u8);
  context.launch(kernels::Fp8Quantize{factor.numbers.view(), amax, values.view(), blocks, scaling,
                                      factor.transpose});
  if (!factor.transpose) {
    return {values, found, {values.view(), amax, blocks, scaling}};
  }
  return {values, found, {values.view(), transposed(amax), {blocks.columns, blocks.rows}, scaling}};
}

/// c = a b^T (+ bias), or c += a b^T.
void multiply_factors(Context& context, const Fp8Products& fp8, const Factor& a, const Factor& b,
                      kernels::Fp8Matmul product) {
  const Quantized left = quantize(context, fp8, a), right = quantize(context, fp8, b);
  product.a = left.factor;
  product.b = right.factor;
  context.launch_with_workspace(product);
}

}  // namespace

void multiply_in_fp8(Context& context, const Tensor& x, const Parameter& weight,
                     const Parameter* bias, const Tensor& y) {
  multiply_factors(context, *weight.fp8, {.numbers = x, .role = Fp8Products::input, .noted = true},
                   {.numbers = weight.value, .role = Fp8Products::weight, .noted = true},
                   {.a = {}, .b = {}, .bias = value_of(bias), .c = y.view(), .workspace = {}});
}

void multiply_back_in_fp8(Context& context, const Tensor& dy, const Parameter& weight,
                          const Tensor& dx) {
  multiply_factors(context, *weight.fp8,
                   {.numbers = dy, .role = Fp8Products::gradient, .noted = true},
                   {.numbers = weight.value, .role = Fp8Products::weight, .transpose = true},
                   {.a = {}, .b = {}, .bias = {}, .c = dx.view(), .workspace = {}});
}

void weight_gradient_in_fp8(Context& context, const Tensor& dy, const Tensor& x,
                            const Parameter& weight, const TensorView& sink, bool accumulate) {
  multiply_factors(
      context, *weight.fp8, {.numbers = dy, .role = Fp8Products::gradient, .transpose = true},
      {.numbers = x, .role = Fp8Products::input, .transpose = true},
      {.a = {}, .b = {}, .bias = {}, .c = sink, .workspace = {}, .accumulate = accumulate});
}

}  // namespace mpitron::ops
