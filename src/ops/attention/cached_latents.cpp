// Latent attention in generation. The cache holds latents, one row for all heads; queries are
// multiplied with the keys' up projection and results with the values', so that keys and values are
// never made (absorbed form, DeepSeek-AI 2024).
#include "kernels/attention/rotary.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "kernels/linear/packed_matmul.h"
#include "ops/attention/cached_attention.h"
#include "ops/linear/low_rank.h"
#include "ops/parallel/collectives.h"
#include "tensor/host_copy.h"

namespace mpitron::ops {
namespace {

using device::TensorView;
using tensor::Tensor;

/// Part of the up projection that heads multiply with.
enum class UpPart { keys_transposed, values };

/// [n, r, dq] or [n, dv, r].
Tensor part_of(device::Device& device, const Tensor& weight, const LatentHeads& heads,
               UpPart part) {
  const Index r = weight.shape()[1], rows = heads.plain + heads.value;
  const bool transposed = part == UpPart::keys_transposed;
  const Tensor host = tensor::to_host(device, weight);
  const Tensor made = tensor::empty_on_host(
      device, transposed ? Shape{heads.heads, r, heads.plain} : Shape{heads.heads, heads.value, r},
      weight.dtype());
  visit_dtype(weight.dtype(), [&]<class T>() {
    T* to = made.data<T>();
    for (Index head = 0; head < heads.heads; ++head) {
      const T* from = host.data<T>() + (head * rows + (transposed ? 0 : heads.plain)) * r;
      if (!transposed) {
        to = std::copy_n(from, heads.value * r, to);
        continue;
      }
      for (Index i = 0; i < r; ++i) {
        for (Index j = 0; j < heads.plain; ++j) {
          *to++ = from[j * r + i];
        }
      }
    }
  });
  return tensor::to_device(device, made);
}

/// Columns [begin, end) of each head, [t, n, ..], of a view [t, 1, n, ..] or [t, 1, 1, n, ..].
TensorView head_columns(const TensorView& view, Index begin, Index end) {
  const int last = view.shape.rank() - 1;
  const TensorView part = device::slice(view, last, begin, end);
  return {part.data,
          part.dtype,
          {view.size(0), view.size(last - 1), end - begin},
          {view.stride(0), view.stride(last - 1), 1}};
}

/// Head by head, with the weight as it is.
void multiply_each_head(Context& context, const TensorView& x, const autograd::Parameter& weight,
                        const LatentHeads& heads, UpPart part, const TensorView& y) {
  const Index rows = heads.plain + heads.value, r = weight.value.shape()[1];
  const TensorView up = weight.value.reshape({heads.heads, rows, r}).view();
  const bool keys = part == UpPart::keys_transposed;
  const TensorView own = device::slice(up, 1, keys ? 0 : heads.plain, keys ? heads.plain : rows);
  const auto head_of = [](const TensorView& view, Index head) {
    const TensorView one = device::slice(view, view.shape.rank() - 2, head, head + 1);
    return TensorView(one.data, one.dtype, {view.size(0), view.size(-1)}, {view.stride(0), 1});
  };
  for (Index head = 0; head < heads.heads; ++head) {
    const TensorView matrix = device::slice(own, 0, head, head + 1);
    context.launch_with_workspace(
        kernels::Matmul{.a = head_of(x, head),
                        .b = TensorView(matrix.data, matrix.dtype, {matrix.size(1), r}),
                        .c = head_of(y, head),
                        .transpose_b = !keys});
  }
}

void multiply_packed(Context& context, const TensorView& x, const Tensor& packed,
                     const TensorView& y) {
  context.launch_with_workspace(kernels::PackedMatmul{.x = x,
                                                      .packed = packed.view(),
                                                      .bias = {},
                                                      .y = y,
                                                      .workspace = {},
                                                      .format = context.cached->weights.format()});
}

/// y [t, n, ..] = x [t, n, ..] with each head's rows of a weight.
void multiply_heads(Context& context, const TensorView& x, const autograd::Parameter& weight,
                    const LatentHeads& heads, UpPart part, const TensorView& y) {
  autograd::PackedWeights& weights = context.cached->weights;
  if (!weights.packs()) {
    return multiply_each_head(context, x, weight, heads, part, y);
  }
  const Tensor& packed = weights.of_heads(weight, static_cast<int>(part), [&] {
    return part_of(context.device, weight.value, heads, part);
  });
  multiply_packed(context, x, packed, y);
}

/// [1, in, rank] of the first factor of an update, [rank, in].
Tensor transposed(device::Device& device, const Tensor& a) {
  const Index rank = a.shape()[0], in = a.shape()[1];
  const Tensor made = Tensor::empty(device, {1, in, rank}, a.dtype());
  visit_dtype(a.dtype(), [&]<class T>() {
    for (Index i = 0; i < in; ++i) {
      for (Index j = 0; j < rank; ++j) {
        made.data<T>()[i * rank + j] = a.data<T>()[j * in + i];
      }
    }
  });
  return made;
}

/// x [t, n, ..] with B A of each head: q_nope B A of its rows for keys, c A^T B^T of those for
/// values. The narrow product between both is [t n, rank].
Tensor multiply_update(Context& context, const TensorView& x, autograd::Adapter::Joined& factors,
                       const LatentHeads& heads, UpPart part) {
  const Index t = x.size(0), n = heads.heads;
  const Index rank = factors.a.value.shape()[0], r = factors.a.value.shape()[1];
  autograd::PackedWeights& weights = context.cached->weights;
  const Tensor narrow = context.empty({t, n, rank}, x.dtype);
  const TensorView narrow_rows = narrow.reshape({t * n, rank}).view();
  if (part == UpPart::keys_transposed) {
    const Tensor product = context.empty({t, n, r}, x.dtype);
    multiply_heads(context, x, factors.b, heads, part, narrow.view());
    const Tensor& a =
        weights.of_heads(factors.a, 0, [&] { return transposed(context.device, factors.a.value); });
    multiply_packed(context, narrow_rows, a, product.reshape({t * n, r}).view());
    return product;
  }
  const Tensor product = context.empty({t, n, heads.value}, x.dtype);
  multiply_packed(context, device::reshape(x, {t * n, r}), weights.of(factors.a), narrow_rows);
  multiply_heads(context, narrow.view(), factors.b, heads, part, product.view());
  return product;
}

/// Adds to y [t, n, ..], of any strides, what adapters make of x on their rows. Adapters serve on
/// the host, where weights are packed.
void add_updates(Context& context, const TensorView& x, const CachedLatents& latents,
                 const LatentHeads& heads, UpPart part, const TensorView& y) {
  for (const auto& [rows, factors] : latents.updates) {
    AdaptedContext own(context, *rows.adapter);
    const TensorView sums = device::slice(y, 0, rows.first, rows.end);
    const Tensor added = multiply_update(own.context(), device::slice(x, 0, rows.first, rows.end),
                                         *factors, heads, part);
    const Tensor before = context.empty(added.shape(), added.dtype());
    context.launch(kernels::Cast{.x = sums, .y = before.view()});
    context.launch(kernels::Add{.a = before.view(), .b = added.view(), .y = added.view()});
    context.launch(kernels::Cast{.x = added.view(), .y = sums});
  }
}

/// y [t, n, ..] = x [t, n, ..] with each head's part of the up projection and its updates.
void project(Context& context, const TensorView& x, const CachedLatents& latents,
             const LatentHeads& heads, UpPart part, const TensorView& y) {
  multiply_heads(context, x, *latents.up, heads, part, y);
  add_updates(context, x, latents, heads, part, y);
}

void rotate(Context& context, const TensorView& x, const RotaryTables& tables) {
  context.launch(kernels::RotaryEmbedding{
      .x = x, .cos = tables.cos.view(), .sin = tables.sin.view(), .interleaved = true});
}

}  // namespace

Var cached_latent_attention(Context& context, const CachedLatents& x, const LatentHeads& heads,
                            const AttentionSettings& settings,
                            const std::optional<RotaryTables>& tables, Index number) {
  MPITRON_CHECK(!context.recording() && settings.causal && !settings.mask, number);
  const Index t = x.q.shape()[0], n = heads.heads, r = x.kv.shape()[-1];
  const Index of_query = heads.plain + heads.rotary, of_key = r + heads.rotary;
  const DType type = x.q.value.dtype();
  const TensorView q = x.q.value.reshape({t, 1, n, of_query}).view();
  const TensorView q_rotary = device::slice(q, 3, heads.plain, of_query);
  const TensorView k_rope = x.k_rope.value.reshape({t, 1, 1, heads.rotary}).view();
  if (tables) {
    rotate(context, q_rotary, *tables);
    rotate(context, k_rope, *tables);
  }
  const auto& layer = context.cached->cache.layer(number, {1, of_key, 0, type});
  const TensorView keys = layer.keys.view();
  const TensorView latents = device::slice(keys, 3, 0, r);
  const Tensor kv = join_first(context, x.kv.value, *x.ranks);
  const Tensor rope = join_first(context, x.k_rope.value, *x.ranks);
  const Index rows = kv.shape()[0];
  context.launch(kernels::CacheAppend{.k = kv.reshape({rows, 1, 1, r}).view(),
                                      .v = rope.reshape({rows, 1, 1, heads.rotary}).view(),
                                      .key_cache = latents,
                                      .value_cache = device::slice(keys, 3, r, of_key),
                                      .pieces = context.cached->pieces,
                                      .table = context.cached->table.view(),
                                      .key_scales = layer.key_scales.view()});
  const Tensor absorbed = context.empty({t, 1, 1, n, of_key}, type);
  project(context, head_columns(q, 0, heads.plain), x, heads, UpPart::keys_transposed,
          head_columns(absorbed.view(), 0, r));
  context.launch(kernels::Cast{.x = head_columns(q, heads.plain, of_query),
                               .y = head_columns(absorbed.view(), r, of_key)});
  const Tensor queries = join_first(context, absorbed, *x.ranks);
  kernels::CachedAttention attention = cached_attention_of(settings, context.cached->pieces);
  attention.table = context.cached->table.view();
  attention.q = queries.view();
  attention.key_cache = keys;
  attention.value_cache = latents;
  attention.key_scales = attention.value_scales = layer.key_scales.view();
  const Tensor weighted = attend_cached(context, attention, type, *x.ranks);
  const Tensor o = context.empty({t, n, heads.value}, type);
  project(context, weighted.view(), x, heads, UpPart::values, o.view());
  return autograd::variable(o.reshape({t, 1, n * heads.value}));
}

}  // namespace mpitron::ops
