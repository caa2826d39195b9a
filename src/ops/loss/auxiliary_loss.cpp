// Lets a loss take part in another value's backward pass. The value passes unchanged; when its
// gradient comes, the loss gets its seed.
#include "ops/loss/auxiliary_loss.h"

#include <utility>

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {

Var with_auxiliary_loss(Context& context, const Var& x, const Var& loss, Tensor seed) {
  if (!context.recording()) {
    return x;
  }
  MPITRON_CHECK(seed.shape() == loss.shape(), to_string(seed.shape()), to_string(loss.shape()));
  Var result = autograd::variable(x.value);
  const auto backward = [x_slot = x.slot, loss_slot = loss.slot, seed = std::move(seed)](
                            Context& inner, Tensor gradient) {
    autograd::accumulate(inner, loss_slot, seed);
    autograd::accumulate(inner, x_slot, std::move(gradient));
  };
  context.record(result.slot, backward);
  return result;
}

Var with_auxiliary_loss(Context& context, const Var& x, const Var& loss, double seed) {
  if (!context.recording()) {
    return x;
  }
  const Tensor seeds = context.empty(loss.shape(), loss.value.dtype());
  context.launch(kernels::Fill{.x = seeds.view(), .value = static_cast<float>(seed)});
  return with_auxiliary_loss(context, x, loss, seeds);
}

}  // namespace mpitron::ops
