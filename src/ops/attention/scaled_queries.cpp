// Scales queries by their position, so that attention over long texts stays sharp (Llama 4, Meta
// 2025; Nakanishi 2025). The queries of a group are a row, and rows lie one group of heads apart.
#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/experts/permute.h"
#include "ops/attention/rotary.h"

namespace mpitron::ops {
namespace {

using device::ConstTensorView;
using device::TensorView;
using tensor::Tensor;

/// Repeats the factor of each position for its samples and groups: [s * rows].
Tensor repeated(Context& context, const Tensor& factors, Index rows) {
  const Index s = factors.numel();
  const Tensor all = context.empty({s, rows, 1}, DType::f32);
  context.launch(
      kernels::Cast{.x = ConstTensorView(factors.view().data, DType::f32, {s, rows, 1}, {1, 0, 1}),
                    .y = all.view()});
  return all.reshape({s * rows});
}

void scale(Context& context, const Tensor& qkv, const QkvLayout& layout, const Tensor& factors) {
  const TensorView queries = layout.heads_of_groups(qkv.view(), 0, layout.queries_per_group());
  const Index rows = queries.size(1), columns = queries.size(2) * queries.size(3);
  const TensorView flat(queries.data, queries.dtype, {queries.size(0) * rows, columns},
                        {queries.stride(1), 1});
  const Tensor of_rows = repeated(context, factors, rows);
  context.launch(kernels::ScaleRows{.x = flat, .factors = of_rows.view(), .y = flat});
}

struct ScaledQueriesBackward {
  autograd::Slot qkv_slot;
  QkvLayout layout;
  Tensor factors;

  void operator()(Context& context, Tensor gradient) const {
    MPITRON_CHECK(gradient.unique());
    scale(context, gradient, layout, factors);
    autograd::accumulate(context, qkv_slot, std::move(gradient));
  }
};

}  // namespace

Var scaled_queries(Context& context, const Var& qkv, const QkvLayout& layout,
                   const Tensor& factors) {
  MPITRON_CHECK(factors.numel() == qkv.shape()[0], factors.numel(), qkv.shape()[0]);
  scale(context, qkv.value, layout, factors);
  Var result = autograd::variable(qkv.value);
  if (context.recording()) {
    context.record(result.slot, ScaledQueriesBackward{qkv.slot, layout, factors});
  }
  return result;
}

}  // namespace mpitron::ops
