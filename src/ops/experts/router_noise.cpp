#include "ops/experts/router_noise.h"

#include "autograd/gradient.h"

namespace mpitron::ops {
namespace {

Tensor jittered(Context& context, const Tensor& x, double eps, const TokenNoise& noise) {
  const Tensor y = context.empty(x.shape(), x.dtype());
  context.launch(kernels::Jitter{
      .x = x.view(), .y = y.view(), .eps = static_cast<float>(eps), .noise = noise});
  return y;
}

}  // namespace

TokenNoise token_noise(const Context& context, const TensorParallel& shared, Index s_local, Index b,
                       const autograd::RngKey& key) {
  kernels::GlobalIndexMap index{.sequence = context.position.sequence,
                                .sample_offset = context.position.first_sample,
                                .sample_stride = context.position.sample_stride};
  if (shared.cuts_sequence()) {
    index = index.from(shared.rank() * s_local);
  }
  return {.key = key.philox(),
          .index = index,
          .batch = b,
          .replayed = {context.position.replayed, key.place()}};
}

Var jitter(Context& context, const Var& x, double eps, const TokenNoise& noise) {
  Var result = autograd::variable(jittered(context, x.value, eps, noise));
  if (context.recording()) {
    context.record(result.slot,
                   [slot = x.slot, eps, noise](Context& inner, const Tensor& gradient) {
                     autograd::accumulate(inner, slot, jittered(inner, gradient, eps, noise));
                   });
  }
  return result;
}

Tensor random_logits(Context& context, const Tensor& logits, const TokenNoise& noise) {
  const Tensor y = context.empty(logits.shape(), logits.dtype());
  context.launch(kernels::RandomLogits{.logits = y.view(), .noise = noise});
  return y;
}

}  // namespace mpitron::ops
