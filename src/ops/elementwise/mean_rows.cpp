// Pools rows: gathers the first rows of all groups, then the second ones, ..., so that a group's
// mean is a sum over the rows of a matrix that is as wide as all groups together.
#include "ops/elementwise/mean_rows.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/embedding.h"
#include "kernels/linear/matmul.h"

namespace mpitron::ops {
namespace {

using autograd::Context;
using autograd::Var;
using tensor::Tensor;

/// [n, h] of x [r, h]; -1 is a row of zeros.
Tensor gathered(Context& context, const Tensor& x, const Tensor& rows) {
  const Tensor y = context.empty({rows.numel(), x.shape()[1]}, x.dtype());
  const Tensor ids = rows.reshape({rows.numel()});
  context.launch(kernels::EmbeddingForward{.ids = ids.view(), .table = x.view(), .y = y.view()});
  return y;
}

Tensor scaled(Context& context, const Tensor& x, DType type, Index count) {
  const Tensor y = context.empty(x.shape(), type);
  context.launch(
      kernels::Scale{.x = x.view(), .y = y.view(), .factor = 1 / static_cast<float>(count)});
  return y;
}

}  // namespace

Var mean_rows(Context& context, const Var& x, const PooledRows& groups) {
  const Index k = groups.rows.shape()[0], n = groups.rows.shape()[1], h = x.shape()[1];
  const DType type = x.value.dtype();
  const Tensor parts = gathered(context, x.value, groups.rows).reshape({k, n * h});
  const Tensor sums = context.empty({n * h}, type == DType::f64 ? type : DType::f32);
  context.launch_with_workspace(
      kernels::BiasGradient{.dy = parts.view(), .db = sums.view(), .workspace = {}});
  Var result = autograd::variable(scaled(context, sums, type, k).reshape({n, h}));
  if (context.recording()) {
    context.record(result.slot,
                   [slot = x.slot, from = groups.from, k](Context& inner, const Tensor& gradient) {
                     const Tensor rows = gathered(inner, gradient, from);
                     autograd::accumulate(inner, slot, scaled(inner, rows, rows.dtype(), k));
                   });
  }
  return result;
}

}  // namespace mpitron::ops
