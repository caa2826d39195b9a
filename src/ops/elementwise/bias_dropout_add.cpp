// Adds bias and residual around a dropout in one kernel. Nothing of the mask is kept: the backward
// pass draws it again from the key and the global index.
#include "ops/elementwise/bias_dropout_add.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

struct BiasDropoutAddBackward {
  Slot x_slot, residual_slot;
  Parameter* bias;
  kernels::DropoutMask mask;
  DType x_dtype;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor dx = branch_gradient(context, gradient);
    accumulate_bias(context, bias, dx);
    autograd::accumulate(context, residual_slot, std::move(gradient));
    autograd::accumulate(context, x_slot, dx);
  }

  /// Returns the gradient that flows into x: the output's itself, unless a mask or another type
  /// stands between.
  Tensor branch_gradient(Context& context, const Tensor& gradient) const {
    if (!mask.active() && gradient.dtype() == x_dtype) {
      return gradient;
    }
    const Tensor dx = context.empty(gradient.shape(), x_dtype);
    const Tensor dy_rows = fold_rows(gradient), dx_rows = fold_rows(dx);
    context.launch(kernels::DropoutBackward{
        .dy = dy_rows.view(), .dx = dx_rows.view(), .batch = gradient.shape()[1], .mask = mask});
    return dx;
  }
};

}  // namespace

kernels::DropoutMask dropout_mask(const Context& context, double probability, std::uint32_t layer,
                                  std::uint32_t site) {
  kernels::DropoutMask mask;
  if (context.training() && probability > 0) {
    const autograd::RngKey key{context.seed, context.iteration, layer, site};
    mask.key = key.philox();
    mask.replayed = {context.position.replayed, key.place()};
    mask.threshold = kernels::dropout_threshold(probability);
    mask.index.sequence = context.position.sequence;
    mask.index.sample_offset = context.position.first_sample;
    mask.index.sample_stride = context.position.sample_stride;
  }
  return mask;
}

kernels::DropoutMask local_mask(const kernels::DropoutMask& mask, const TensorParallel& shared,
                                Index s_local) {
  kernels::DropoutMask local = mask;
  if (shared.cuts_sequence()) {
    local.index = mask.index.from(shared.rank() * s_local);
  }
  return local;
}

Var bias_dropout_add(Context& context, const Var& x, Parameter* bias, const Var& residual,
                     const kernels::DropoutMask& mask) {
  if (bias != nullptr) {
    context.use(*bias);
  }
  const Tensor y =
      context.empty(x.shape(), residual.value ? residual.value.dtype() : x.value.dtype());
  const Tensor x_rows = fold_rows(x.value), y_rows = fold_rows(y);
  kernels::BiasDropoutAddForward kernel{.x = x_rows.view(),
                                        .bias = value_of(bias),
                                        .y = y_rows.view(),
                                        .batch = x.shape()[1],
                                        .mask = mask};
  if (residual.value) {
    kernel.residual = fold_rows(residual.value).view();
  }
  context.launch(kernel);
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(result.slot,
                   BiasDropoutAddBackward{x.slot, residual.slot, bias, mask, x.value.dtype()});
  }
  return result;
}

device::ConstTensorView value_of(const autograd::Parameter* bias) {
  return bias != nullptr ? device::ConstTensorView(bias->value) : device::ConstTensorView{};
}

void accumulate_bias(autograd::Context& context, autograd::Parameter* bias,
                     const tensor::Tensor& dy) {
  if (bias == nullptr) {
    return;
  }
  const tensor::Tensor rows = fold_rows(dy);
  autograd::accumulate_parameter(
      context, *bias, [&](const device::TensorView& sink, bool accumulate) {
        context.launch_with_workspace(
            kernels::BiasGradient{.dy = rows.view(), .db = sink, .accumulate = accumulate});
      });
}

}  // namespace mpitron::ops
