// Adds low-rank updates (Hu et al. 2022, LoRA) to the output of a layer. In generation each row may
// have an adapter of its own; rows of one adapter are a group.
#include "ops/linear/low_rank.h"

#include <numeric>

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/reshape.h"
#include "ops/elementwise/scaled.h"
#include "ops/linear/linear_products.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using device::TensorView;
using tensor::Tensor;

/// body(weight, first row, behind the last one) of each group that has rows.
template <class Body>
void for_each_group(const RowGroups& groups, const Body& body) {
  Index begin = 0;
  for (std::size_t i = 0; i < groups.weights.size(); ++i) {
    const Index end = begin + groups.rows[i];
    if (end > begin) {
      body(*groups.weights[i], begin, end);
    }
    begin = end;
  }
}

/// Block `i` of the columns of y, and its rows of B.
TensorView columns(const TensorView& y, const OutputBlocks& blocks, Index i) {
  const Index begin = blocks.first + i * blocks.stride;
  return slice(y, 1, begin, begin + blocks.width);
}
template <class View>
View rows(const View& b, const OutputBlocks& blocks, Index i) {
  const View matrix = b.shape.rank() > 1 ? b : reshape(b, {b.numel(), 1});
  return slice(matrix, 0, i * blocks.width, (i + 1) * blocks.width);
}

struct LowRankBackward {
  Slot y_slot;
  Tensor u;  // [t, r]
  Slot u_slot;
  RowGroups groups;
  OutputBlocks blocks;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor dy = fold_rows(gradient);
    const Tensor du = context.empty(u.shape(), u.dtype());
    for_each_group(groups, [&](Parameter& weight, Index begin, Index end) {
      const TensorView group_dy = slice(dy.view(), 0, begin, end);
      add_to_weight(context, weight, group_dy, slice(u.view(), 0, begin, end));
      multiply_back(context, weight, group_dy, slice(du.view(), 0, begin, end));
    });
    autograd::accumulate(context, u_slot, du);
    autograd::accumulate(context, y_slot, std::move(gradient));
  }

  void add_to_weight(Context& context, Parameter& weight, const TensorView& dy,
                     const TensorView& input) const {
    autograd::accumulate_parameter(context, weight, [&](const TensorView& sink, bool accumulate) {
      for (Index i = 0; i < blocks.count; ++i) {
        context.launch_with_workspace(kernels::Matmul{.a = columns(dy, blocks, i),
                                                      .b = input,
                                                      .c = rows(sink, blocks, i),
                                                      .transpose_a = true,
                                                      .accumulate = accumulate});
      }
    });
  }

  void multiply_back(Context& context, const Parameter& weight, const TensorView& dy,
                     const TensorView& sum) const {
    for (Index i = 0; i < blocks.count; ++i) {
      context.launch_with_workspace(kernels::Matmul{.a = columns(dy, blocks, i),
                                                    .b = rows(weight.value.view(), blocks, i),
                                                    .c = sum,
                                                    .accumulate = i > 0});
    }
  }
};

}  // namespace

Var add_low_rank(Context& context, Var y, const Var& u, const RowGroups& groups,
                 const OutputBlocks& blocks) {
  const Tensor sum = fold_rows(y.value), input = fold_rows(u.value);
  MPITRON_CHECK(
      std::accumulate(groups.rows.begin(), groups.rows.end(), Index{0}) == input.shape()[0],
      to_string(input.shape()));
  for (Parameter* const weight : groups.weights) {
    context.use(*weight);
  }
  for_each_group(groups, [&](const Parameter& weight, Index begin, Index end) {
    for (Index i = 0; i < blocks.count; ++i) {
      context.launch_with_workspace(
          kernels::Matmul{.a = slice(input.view(), 0, begin, end),
                          .b = rows(weight.value.view(), blocks, i),
                          .c = columns(slice(sum.view(), 0, begin, end), blocks, i),
                          .transpose_b = true,
                          .accumulate = true});
    }
  });
  Var result = autograd::variable(y.value);
  if (context.recording()) {
    context.record(result.slot, LowRankBackward{y.slot, input, u.slot, groups, blocks});
  }
  return result;
}

namespace {

/// [rows, 1]: what each row's bias is multiplied by.
Var weights_of(Context& context, Index rows, DType dtype, const BiasWeights& weights) {
  if (weights.factors == nullptr) {
    const Tensor values = context.empty({rows, 1}, dtype);
    context.launch(kernels::Fill{.x = values.view(), .value = weights.share});
    return autograd::constant(values);
  }
  const Var factors = cast(context, reshape(context, *weights.factors, {rows, 1}), dtype);
  return weights.share == 1 ? factors : scaled(context, factors, weights.share);
}

}  // namespace

Var add_group_biases(Context& context, Var y, const RowGroups& biases, const BiasWeights& weights) {
  if (biases.weights.empty()) {
    return y;
  }
  const Index rows = y.shape()[0], width = y.shape()[1];
  const Var u = weights_of(context, rows, y.value.dtype(), weights);
  return add_low_rank(context, std::move(y), u, biases, {.width = width});
}

void add_product(Context& context, const Tensor& u, Parameter& weight, const Tensor& y) {
  const Tensor product = linear_output(context, fold_rows(u), weight, nullptr);
  const Tensor sum = fold_rows(y);
  context.launch(kernels::Add{.a = sum.view(), .b = product.view(), .y = sum.view()});
}

}  // namespace mpitron::ops
