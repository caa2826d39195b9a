// Linear layers of experts, whose rows lie group after group. All groups are one kernel; where
// weights need care one by one (8 or 4 bits, packed) they are multiplied in turn.
#include "ops/linear/grouped_linear.h"

#include <numeric>

#include "autograd/cached_pass.h"
#include "autograd/gradient.h"
#include "kernels/linear/gemm_choice.h"
#include "kernels/linear/grouped_matmul.h"
#include "ops/linear/fp8_products.h"
#include "ops/linear/linear_products.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// Weight by weight: in 8 bits each has scales of its own, and so have its rows; one in 4 bits is
/// unpacked for its product alone; in generation each is packed.
void multiply_one_by_one(Context& context, const Tensor& a, std::span<Parameter* const> weights,
                         std::span<const Index> counts, bool transpose, const Tensor& c) {
  const kernels::PassingSizes rows_of_experts;
  kernels::for_groups(counts, [&](std::size_t group, Index begin, Index end) {
    const Tensor rows = a.slice(0, begin, end), products = c.slice(0, begin, end);
    if (transpose) {
      multiply(context, rows, *weights[group], nullptr, products);
    } else {
      multiply_back(context, rows, *weights[group], products);
    }
  });
}

void multiply_groups(Context& context, const Tensor& a, std::span<Parameter* const> weights,
                     std::span<const Index> counts, bool transpose, const Tensor& c) {
  if (weights[0]->fp8 || weights[0]->four_bits ||
      (context.cached != nullptr && context.cached->weights.packs())) {
    return multiply_one_by_one(context, a, weights, counts, transpose, c);
  }
  std::vector<kernels::In> matrices;
  for (const Parameter* weight : weights) {
    matrices.push_back(weight->value.view());
  }
  context.launch_with_workspace(kernels::GroupedMatmul{.a = a.view(),
                                                       .b = matrices,
                                                       .c = c.view(),
                                                       .counts = counts,
                                                       .workspace = {},
                                                       .transpose_b = transpose});
}

struct GroupedLinearBackward {
  autograd::SavedValue x;  // [m, in]
  Slot x_slot;
  std::vector<Parameter*> weights;
  std::vector<Index> counts;

  void operator()(Context& context, const Tensor& dy) const {
    if (autograd::defers(context, *weights[0])) {
      context.recorder.deferred->add(
          weights, [self = *this, dy](Context& later) { self.add_to_weights(later, dy); });
    } else if (!weights[0]->role.frozen) {
      add_to_weights(context, dy);
    }
    if (x_slot) {
      const Tensor dx = context.empty(x.shape(), dy.dtype());
      multiply_groups(context, dy, weights, counts, false, dx);
      autograd::accumulate(context, x_slot, dx);
    }
  }

  void add_to_weights(Context& context, const Tensor& dy) const {
    const Tensor input = x(context);
    if (weights[0]->fp8 && weights[0]->fp8->weight_gradient) {
      return add_to_weights_in_fp8(context, dy, input);
    }
    std::vector<autograd::GradientWrite> sinks(weights.size());
    std::vector<kernels::GroupGradient> gradients(weights.size());
    kernels::for_groups(counts, [&](std::size_t group, Index, Index) {
      sinks[group] = autograd::open_sink(context, *weights[group]);
      gradients[group] = {sinks[group].destination, sinks[group].accumulate};
    });
    context.launch_with_workspace(kernels::GroupedWeightGradient{
        .a = dy.view(), .b = input.view(), .c = gradients, .counts = counts, .workspace = {}});
    for (std::size_t group = 0; group < weights.size(); ++group) {
      if (gradients[group].gradient) {
        autograd::close_sink(context, *weights[group], sinks[group]);
      }
    }
  }

  void add_to_weights_in_fp8(Context& context, const Tensor& dy, const Tensor& input) const {
    const kernels::PassingSizes rows_of_experts;
    kernels::for_groups(counts, [&](std::size_t group, Index begin, Index end) {
      autograd::accumulate_parameter(
          context, *weights[group], [&](const device::TensorView& sink, bool accumulate) {
            weight_gradient_in_fp8(context, dy.slice(0, begin, end), input.slice(0, begin, end),
                                   *weights[group], sink, accumulate);
          });
    });
  }
};

}  // namespace

Var grouped_linear(Context& context, const Recomputable& x, std::span<Parameter* const> weights,
                   const std::vector<Index>& counts) {
  MPITRON_CHECK(weights.size() == counts.size(), weights.size(), counts.size());
  const Tensor& input = x.var.value;
  MPITRON_CHECK(std::accumulate(counts.begin(), counts.end(), Index{0}) == input.shape()[0],
                to_string(input.shape()));
  for (Parameter* weight : weights) {
    context.use(*weight);
  }
  const Tensor y = context.empty({input.shape()[0], weights[0]->local_shape()[0]}, input.dtype());
  multiply_groups(context, input, weights, counts, true, y);
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(
        result.slot,
        GroupedLinearBackward{
            autograd::SavedValue(x), x.var.slot, {weights.begin(), weights.end()}, counts});
  }
  return result;
}

}  // namespace mpitron::ops
