#include "ops/attention/cached_attention.h"

namespace mpitron::ops {

Var cached_attention(Context& context, const Var& qkv, const AttentionSettings& settings,
                     Index number) {
  MPITRON_CHECK(!context.recording() && settings.causal && !settings.mask && !settings.bias.value,
                number);
  const autograd::CachedPass& pass = *context.cached;
  const QkvLayout& layout = settings.layout;
  const device::TensorView view = qkv.value.view();
  const autograd::KeyValueCache::Layer& layer =
      pass.cache.layer(number, {.groups = layout.query_groups,
                                .key = layout.head_dim,
                                .value = layout.value_dim,
                                .dtype = qkv.value.dtype()});
  context.launch(kernels::CacheAppend{.k = layout.keys(view),
                                      .v = layout.values(view),
                                      .key_cache = layer.keys.view(),
                                      .value_cache = layer.values.view(),
                                      .pieces = pass.pieces});
  const Index rows = qkv.shape()[0];
  const tensor::Tensor o = context.empty({rows, layout.heads, layout.value_dim}, qkv.value.dtype());
  kernels::CachedAttention attention{.q = layout.queries(view),
                                     .key_cache = layer.keys.view(),
                                     .value_cache = layer.values.view(),
                                     .o = o.view(),
                                     .pieces = pass.pieces,
                                     .scale = settings.scale,
                                     .window = settings.window};
  if (settings.sink == AttentionSettings::Sink::learned) {
    attention.sinks = settings.sink_logits->value.view();
  }
  attention.zero_sink = settings.sink == AttentionSettings::Sink::zero;
  context.launch(attention);
  return autograd::variable(o.reshape({rows, 1, layout.heads * layout.value_dim}));
}

}  // namespace mpitron::ops
