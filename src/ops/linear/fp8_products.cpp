// Products of a layer in 8 bits: find largest values, choose scales by the recipe, round the
// factors, multiply. A weight's numbers, plain or transposed, may be kept (KeptFp8Weight): then the
// first product that needs them makes them for the others.
#include "ops/linear/fp8_products.h"

#include <utility>

#include "ops/elementwise/bias_dropout_add.h"

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

using autograd::KeptFp8Weight;

namespace {

/// Multiple to which GPUs want the number of rows that a weight's gradient sums over.
constexpr Index kRows = 16;

/// Number `i` of contiguous memory, as a matrix.
TensorView number_of(const TensorView& numbers, Index i) {
  return {numbers.as<float>() + i, DType::f32, {1, 1}};
}

/// Views the same numbers as the transposed matrix.
device::ConstTensorView transposed(const device::ConstTensorView& x) {
  return {x.data, x.dtype, {x.size(1), x.size(0)}, {x.stride(1), x.stride(0)}};
}

Fp8Scaling scaling_of(const Fp8Products& fp8, Fp8Products::Role role) {
  return {.format = role == Fp8Products::gradient ? fp8.gradient_format : Fp8Format::e4m3,
          .power_of_two = fp8.scaling == Fp8Products::Scaling::blocks,
          .margin = fp8.scaling == Fp8Products::Scaling::delayed ? fp8.margin : 0};
}

/// Returns the blocks of the numbers as they lie: of a weight squares, of the others runs along the
/// dimension that is summed over.
kernels::Fp8Blocks blocks_of(const Fp8Products& fp8, const Factor& factor) {
  if (fp8.scaling != Fp8Products::Scaling::blocks) {
    return {};
  }
  constexpr Index kBlock = Fp8Products::kBlock;
  if (factor.role == Fp8Products::weight) {
    return {kBlock, kBlock};
  }
  return factor.transpose ? kernels::Fp8Blocks{kBlock, 1} : kernels::Fp8Blocks{1, kBlock};
}

/// Makes room for largest values that are found; absent for delayed scales, which are known.
Tensor amax_memory(Context& context, const Fp8Products& fp8, const Factor& factor) {
  if (fp8.scaling == Fp8Products::Scaling::delayed) {
    return {};
  }
  const kernels::Fp8Blocks blocks = blocks_of(fp8, factor);
  const Shape& shape = factor.numbers.shape();
  return context.empty({blocks.down(shape[0]), blocks.across(shape[1])}, DType::f32);
}

/// The largest values that scales follow from; or this step's of delayed scales, for the next.
void find_amax(Context& context, const Fp8Products& fp8, const Factor& factor, const Tensor& amax) {
  if (amax) {
    context.launch_with_workspace(
        kernels::Fp8Amax{factor.numbers.view(), amax.view(), {}, blocks_of(fp8, factor)});
  } else if (factor.noted && context.training() && fp8.amax) {
    context.launch_with_workspace(kernels::Fp8Amax{.x = factor.numbers.view(),
                                                   .amax = number_of(fp8.amax.view(), factor.role),
                                                   .workspace = {},
                                                   .accumulate = true});
  }
}

device::ConstTensorView scale_source(const Fp8Products& fp8, const Factor& factor,
                                     const Tensor& amax) {
  return amax ? amax.view()
              : number_of(fp8.history->value.view(), factor.role * fp8.history->shape[1]);
}

void make_values(Context& context, const Fp8Products& fp8, const Factor& factor,
                 const Quantized& made) {
  context.launch(kernels::Fp8Quantize{
      factor.numbers.view(), scale_source(fp8, factor, made.amax_memory), made.values.view(),
      blocks_of(fp8, factor), scaling_of(fp8, factor.role), factor.transpose});
}

/// Returns what stands for the factor once `values` are made.
Quantized quantized(const Fp8Products& fp8, const Factor& factor, const Tensor& values,
                    const Tensor& amax) {
  const kernels::Fp8Blocks blocks = blocks_of(fp8, factor);
  const Fp8Scaling scaling = scaling_of(fp8, factor.role);
  const device::ConstTensorView source = scale_source(fp8, factor, amax);
  if (!factor.transpose) {
    return {values, amax, {values.view(), source, blocks, scaling}};
  }
  return {
      values, amax, {values.view(), transposed(source), {blocks.columns, blocks.rows}, scaling}};
}

}  // namespace

Quantized quantize(Context& context, const Fp8Products& fp8, const Factor& factor) {
  const Tensor amax = amax_memory(context, fp8, factor);
  find_amax(context, fp8, factor, amax);
  const Shape& shape = factor.numbers.shape();
  const bool fills_up = factor.transpose && factor.role != Fp8Products::weight;
  const Index rows = fills_up ? (shape[0] + kRows - 1) / kRows * kRows : shape[0];
  const Tensor values =
      context.empty(factor.transpose ? Shape{shape[1], rows} : Shape{rows, shape[1]}, DType::u8);
  Quantized result = quantized(fp8, factor, values, amax);
  make_values(context, fp8, factor, result);
  return result;
}

Quantized quantize_weight(Context& context, const Parameter& weight, bool transpose) {
  const Fp8Products& fp8 = *weight.fp8;
  const Factor factor{.numbers = weight.value,
                      .role = Fp8Products::weight,
                      .transpose = transpose,
                      .noted = !transpose};
  if (fp8.kept == nullptr) {
    return quantize(context, fp8, factor);
  }
  KeptFp8Weight& kept = *fp8.kept;
  if (!std::exchange(kept.has_amax, true)) {
    find_amax(context, fp8, factor, kept.amax);
  }
  Quantized result = quantized(fp8, factor, transpose ? kept.transposed : kept.values, kept.amax);
  if (!std::exchange(transpose ? kept.has_transposed : kept.has_values, true)) {
    make_values(context, fp8, factor, result);
  }
  return result;
}

}  // namespace mpitron::ops
