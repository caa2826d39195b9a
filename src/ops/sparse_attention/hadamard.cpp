#include "ops/sparse_attention/hadamard.h"

#include "autograd/gradient.h"
#include "kernels/sparse_attention/hadamard.h"

namespace mpitron::ops {
namespace {

void turn(autograd::Context& context, const tensor::Tensor& x, Index size) {
  context.launch(kernels::Hadamard{device::reshape(x.view(), {x.numel() / size, size})});
}

}  // namespace

autograd::Var hadamard(autograd::Context& context, const autograd::Var& x, Index size) {
  turn(context, x.value, size);
  autograd::Var result = autograd::variable(x.value);
  if (context.recording()) {
    context.record(result.slot,
                   [slot = x.slot, size](autograd::Context& inner, tensor::Tensor gradient) {
                     MPITRON_CHECK(gradient.unique());
                     turn(inner, gradient, size);
                     autograd::accumulate(inner, slot, std::move(gradient));
                   });
  }
  return result;
}

}  // namespace mpitron::ops
