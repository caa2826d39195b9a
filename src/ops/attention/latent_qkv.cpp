// Makes the fused queries, keys and values of latent attention from its up projections, with
// rotations, as an op with a backward pass of its own: composed of slices and copies it would pass
// over the memory several times.
#include "ops/attention/latent_qkv.h"

#include "autograd/gradient.h"
#include "kernels/attention/latent_qkv.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// [s, b, n d] as [s, b, n, d].
Tensor by_head(const Tensor& x, Index heads) {
  return x.reshape({x.shape()[0], x.shape()[1], heads, x.shape()[2] / heads});
}

template <class Kernel>
void set_rotation(Kernel& kernel, const std::optional<RotaryTables>& tables) {
  if (tables) {
    kernel.cos = tables->cos.view();
    kernel.sin = tables->sin.view();
  }
}

struct LatentQkvBackward {
  Slot q_slot, kv_slot, k_rope_slot;
  LatentHeads heads;
  std::optional<RotaryTables> tables;

  void operator()(Context& context, const Tensor& gradient) const {
    const Index s = gradient.shape()[0], b = gradient.shape()[1], n = heads.heads;
    const Tensor d_q = context.empty({s, b, n * (heads.plain + heads.rotary)}, gradient.dtype());
    const Tensor d_kv = context.empty({s, b, n * (heads.plain + heads.value)}, gradient.dtype());
    const Tensor d_k_rope = context.empty({s, b, heads.rotary}, gradient.dtype());
    kernels::LatentQkvBackward kernel{.d_qkv = by_head(gradient, n).view(),
                                      .cos = {},
                                      .sin = {},
                                      .d_q = by_head(d_q, n).view(),
                                      .d_kv = by_head(d_kv, n).view(),
                                      .d_k_rope = d_k_rope.view()};
    set_rotation(kernel, tables);
    context.launch(kernel);
    autograd::accumulate(context, q_slot, d_q);
    autograd::accumulate(context, kv_slot, d_kv);
    autograd::accumulate(context, k_rope_slot, d_k_rope);
  }
};

}  // namespace

Var latent_qkv(Context& context, const LatentProjections& x, const LatentHeads& heads,
               const std::optional<RotaryTables>& tables) {
  const Index n = heads.heads;
  const Tensor qkv =
      context.empty({x.q.shape()[0], x.q.shape()[1], heads.layout().width()}, x.q.value.dtype());
  kernels::LatentQkvForward kernel{.q = by_head(x.q.value, n).view(),
                                   .kv = by_head(x.kv.value, n).view(),
                                   .k_rope = x.k_rope.value.view(),
                                   .cos = {},
                                   .sin = {},
                                   .qkv = by_head(qkv, n).view()};
  set_rotation(kernel, tables);
  context.launch(kernel);
  Var result = autograd::variable(qkv);
  if (context.recording()) {
    context.record(result.slot,
                   LatentQkvBackward{x.q.slot, x.kv.slot, x.k_rope.slot, heads, tables});
  }
  return result;
}

}  // namespace mpitron::ops
