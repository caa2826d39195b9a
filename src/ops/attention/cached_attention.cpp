// Attention in generation: keys and values of new rows are appended to the cache first, then rows
// attend to the blocks of their sequence. Where ranks share sequences, each attends to the blocks
// that it has, and the parts are merged by their lse in rank order.
#include "ops/attention/cached_attention.h"

#include "kernels/attention/attention_merge.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/parallel/collectives.h"

namespace mpitron::ops {

kernels::CachedAttention cached_attention_of(const AttentionSettings& settings,
                                             std::span<const kernels::CachedPiece> pieces) {
  using Sink = AttentionSettings::Sink;
  kernels::CachedAttention kernel{.q = {},
                                  .key_cache = {},
                                  .value_cache = {},
                                  .sinks = {},
                                  .bias = {},
                                  .o = {},
                                  .lse = {},
                                  .pieces = pieces,
                                  .scale = settings.scale,
                                  .window = settings.window,
                                  .softcap = settings.softcap,
                                  .zero_sink = settings.sink == Sink::zero,
                                  .causal = settings.causal};
  if (settings.sink == Sink::learned) {
    kernel.sinks = settings.sink_logits->value.view();
  }
  if (settings.bias.value) {
    const device::TensorView bias = settings.bias.value.view();
    kernel.bias = device::slice(device::reshape(bias, {bias.size(0), bias.size(2)}), 1,
                                settings.first_head, settings.first_head + settings.layout.heads);
  }
  return kernel;
}

namespace {

using tensor::Tensor;
using Layer = autograd::KeyValueCache::Layer;

const Layer& cache_of(Context& context, const QkvLayout& layout, DType type, Index number) {
  return context.cached->cache.layer(number, {.groups = layout.query_groups,
                                              .key = layout.head_dim,
                                              .value = layout.value_dim,
                                              .dtype = type});
}

void append(Context& context, const device::TensorView& fused, const QkvLayout& layout,
            const Layer& layer) {
  context.launch(kernels::CacheAppend{.k = layout.keys(fused),
                                      .v = layout.values(fused),
                                      .key_cache = layer.keys.view(),
                                      .value_cache = layer.values.view(),
                                      .pieces = context.cached->pieces,
                                      .table = context.cached->table.view(),
                                      .key_scales = layer.key_scales.view(),
                                      .value_scales = layer.value_scales.view()});
}

void attend_to(const Layer& layer, kernels::CachedAttention& kernel) {
  kernel.key_cache = layer.keys.view();
  kernel.value_cache = layer.values.view();
  kernel.key_scales = layer.key_scales.view();
  kernel.value_scales = layer.value_scales.view();
}

/// This rank's piece of rows that all have attended, over their own keys: in every rank's order.
Tensor merged_piece(Context& context, const Tensor& o, const Tensor& lse, comm::Group& ranks) {
  const Index pieces = ranks.size(), rows = o.shape()[0] / pieces, n = o.shape()[1];
  const Index d = o.shape()[2];
  const Tensor parts = context.empty(o.shape(), DType::f32);
  const Tensor sums = context.empty(lse.shape(), DType::f32);
  ranks.all_to_all(o, parts.view()).wait();
  ranks.all_to_all(lse, sums.view()).wait();
  const auto piece = [&](const Tensor& of, Index i, const Shape& shape) {
    return of.slice(0, i * rows, (i + 1) * rows).reshape(shape);
  };
  const Shape values = {1, rows, n, d}, logarithms = {rows, n, 1};
  for (Index i = 1; i < pieces; ++i) {
    context.launch(kernels::AttentionMerge{.o = piece(parts, 0, values).view(),
                                           .lse = piece(sums, 0, logarithms).view(),
                                           .part_o = piece(parts, i, values).view(),
                                           .part_lse = piece(sums, i, logarithms).view()});
  }
  return piece(parts, 0, {rows, n, d});
}

}  // namespace

Tensor attend_cached(Context& context, kernels::CachedAttention kernel, DType type,
                     comm::Group& ranks) {
  const Index rows = kernel.q.size(0), n = kernel.q.size(2) * kernel.q.size(3);
  const bool shared = ranks.size() > 1;
  const Tensor o = context.empty({rows, n, kernel.value_cache.size(3)}, shared ? DType::f32 : type);
  kernel.o = o.view();
  if (!shared) {
    context.launch_with_workspace(kernel);
    return o;
  }
  const Tensor lse = context.empty({rows, n}, DType::f32);
  context.launch(kernels::Fill{.x = o.view(), .value = 0});  // rows that only fill up the pieces
  context.launch(kernels::Fill{.x = lse.view(), .value = 0});
  kernel.lse = lse.view();
  if (ranks.rank() > 0) {  // a sink counts once
    kernel.sinks = {};
    kernel.zero_sink = false;
  }
  context.launch_with_workspace(kernel);
  const Tensor piece = merged_piece(context, o, lse, ranks);
  if (type == DType::f32) {
    return piece;
  }
  const Tensor rounded = context.empty(piece.shape(), type);
  context.launch(kernels::Cast{.x = piece.view(), .y = rounded.view()});
  return rounded;
}

Var cached_attention(Context& context, const Var& qkv, const AttentionSettings& settings,
                     Index number, comm::Group& ranks) {
  MPITRON_CHECK(!context.recording() && settings.causal && !settings.mask, number);
  const Tensor all = join_first(context, qkv.value, ranks);
  const device::TensorView fused = all.view();
  const QkvLayout& layout = settings.layout;
  const Layer& layer = cache_of(context, layout, fused.dtype, number);
  append(context, fused, layout, layer);
  const autograd::CachedPass& pass = *context.cached;
  kernels::CachedAttention kernel =
      cached_attention_of(settings, settings.chunk > 0 ? pass.chunked : pass.pieces);
  kernel.table = (settings.chunk > 0 ? pass.chunked_table : pass.table).view();
  kernel.q = layout.queries(fused);
  attend_to(layer, kernel);
  const Tensor o = attend_cached(context, kernel, fused.dtype, ranks);
  return autograd::variable(o.reshape({o.shape()[0], 1, layout.heads * layout.value_dim}));
}

void append_encoded(Context& context, const Var& keys_values, const AttentionSettings& settings,
                    Index number) {
  QkvLayout fused = settings.layout;
  fused.heads = 0;
  const Layer& layer = cache_of(context, settings.layout, keys_values.value.dtype(), number);
  append(context, keys_values.value.view(), fused, layer);
}

Var cached_cross_attention(Context& context, const Var& queries, const AttentionSettings& settings,
                           Index number) {
  MPITRON_CHECK(!context.recording() && !settings.causal && !settings.mask, number);
  const QkvLayout& layout = settings.layout;
  const Layer& layer = cache_of(context, layout, queries.value.dtype(), number);
  kernels::CachedAttention kernel = cached_attention_of(settings, context.cached->encoded);
  kernel.q = device::reshape(queries.value.view(), {queries.shape()[0], 1, layout.query_groups,
                                                    layout.queries_per_group(), layout.head_dim});
  attend_to(layer, kernel);
  const Index rows = queries.shape()[0];
  const Tensor o = context.empty({rows, layout.heads, layout.value_dim}, queries.value.dtype());
  kernel.o = o.view();
  kernel.table = context.cached->encoded_table.view();
  context.launch_with_workspace(kernel);
  return autograd::variable(o.reshape({rows, 1, layout.heads * layout.value_dim}));
}

}  // namespace mpitron::ops
