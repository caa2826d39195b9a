#pragma once
#include "autograd/gradient.h"
#include "ops/elementwise/norm.h"

namespace mpitron::ops {

// What the norm ops share: one launch for either kind of norm. Contract: norm.h.

using device::ConstTensorView;
using device::TensorView;

/// Statistics of the rows, kept for backward; the mean only with LayerNorm.
struct NormStatistics {
  tensor::Tensor mean, rstd;  // [t], fp32
};

struct NormForwardViews {
  ConstTensorView x;
  TensorView y;
};
NormStatistics norm_forward(Context& context, const NormParameters& parameters,
                            const NormForwardViews& views);

struct NormBackwardViews {
  ConstTensorView x, dy, dx_add;
  TensorView dx;
};
/// Writes dx and adds the parameters' gradients to their sinks.
void norm_backward(Context& context, const NormParameters& parameters,
                   const NormStatistics& statistics, const NormBackwardViews& views);

}  // namespace mpitron::ops
