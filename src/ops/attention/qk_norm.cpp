// Norms the heads of queries and keys within the fused tensor, where they lie: heads of all groups
// are rows of a strided view, and values pass by.
#include "ops/attention/qk_norm.h"

#include "kernels/elementwise/elementwise.h"
#include "ops/elementwise/norm.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// `count` neighbouring heads of every group as rows of rank 3: [s*b*g, count, d].
template <class View>
View head_rows(const View& qkv, const QkvLayout& layout, Index first, Index count) {
  View rows = layout.heads_of_groups(qkv, first, count);
  const Index outer = rows.shape[0] * rows.shape[1];
  return View(rows.data, rows.dtype, {outer, count, layout.head_dim},
              {rows.stride(1), rows.stride(2), 1});
}

struct Heads {
  const QkvLayout& layout;
  template <class View>
  View queries(const View& qkv) const {
    return head_rows(qkv, layout, 0, layout.queries_per_group());
  }
  template <class View>
  View keys(const View& qkv) const {
    return head_rows(qkv, layout, layout.queries_per_group(), 1);
  }
  template <class View>
  View values(const View& qkv) const {
    return head_rows(qkv, layout, layout.queries_per_group() + 1, 1);
  }
};

struct QkNormBackward {
  Tensor x;
  Slot x_slot;
  QkvLayout layout;
  NormParameters query, key;
  NormStatistics query_statistics, key_statistics;

  void operator()(Context& context, Tensor gradient) const {
    const Heads heads{layout};
    const Tensor dx = context.empty(x.shape(), x.dtype());
    const ConstTensorView xv = x, dy = gradient;
    norm_backward(context, query, query_statistics,
                  {.x = heads.queries(xv),
                   .dy = heads.queries(dy),
                   .dx_add = {},
                   .dx = heads.queries(dx.view())});
    norm_backward(
        context, key, key_statistics,
        {.x = heads.keys(xv), .dy = heads.keys(dy), .dx_add = {}, .dx = heads.keys(dx.view())});
    context.launch(kernels::Cast{.x = heads.values(dy), .y = heads.values(dx.view())});
    autograd::accumulate(context, x_slot, dx);
  }
};

}  // namespace

Var qk_norm(Context& context, const Var& qkv, const QkvLayout& layout, const NormParameters& query,
            const NormParameters& key) {
  const Heads heads{layout};
  const Tensor y = context.empty(qkv.shape(), qkv.value.dtype());
  const ConstTensorView x = qkv.value;
  const NormStatistics query_statistics =
      norm_forward(context, query, {.x = heads.queries(x), .y = heads.queries(y.view())});
  const NormStatistics key_statistics =
      norm_forward(context, key, {.x = heads.keys(x), .y = heads.keys(y.view())});
  context.launch(kernels::Cast{.x = heads.values(x), .y = heads.values(y.view())});
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(result.slot, QkNormBackward{qkv.value, qkv.slot, layout, query, key,
                                               query_statistics, key_statistics});
  }
  return result;
}

}  // namespace mpitron::ops
