// Norms as ops. Which kernel runs is decided in norm_kernels.cpp; here is what is kept: the input
// and its statistics.
#include "ops/elementwise/norm.h"

#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

struct NormBackward {
  Tensor x;
  Slot x_slot;
  NormStatistics statistics;
  NormParameters parameters;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor prior = autograd::take_gradient(x_slot);
    const Tensor dx = prior.unique() ? prior : context.empty(x.shape(), x.dtype());
    const device::ConstTensorView prior_rows = prior ? fold_rows(prior) : Tensor{};
    norm_backward(
        context, parameters, statistics,
        {.x = fold_rows(x), .dy = fold_rows(gradient), .dx_add = prior_rows, .dx = fold_rows(dx)});
    if (x_slot) {
      x_slot.gradient() = dx;
    }
  }
};

}  // namespace

Var norm(Context& context, const Var& x, const NormParameters& parameters, DType output_dtype) {
  const Tensor y = context.empty(x.shape(), output_dtype);
  const NormStatistics statistics =
      norm_forward(context, parameters, {.x = fold_rows(x.value), .y = fold_rows(y)});
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(result.slot, NormBackward{x.value, x.slot, statistics, parameters});
  }
  return result;
}

}  // namespace mpitron::ops
