#include "ops/elementwise/bias.h"

#include "kernels/linear/matmul.h"
#include "ops/parallel/rows.h"

// Numerical contract: sums in fp32 over fixed blocks of rows (matmul.h, BiasGradient).

namespace mpitron::ops {

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
