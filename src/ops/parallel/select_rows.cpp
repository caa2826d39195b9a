// Copies chosen rows into another order; the gradient of a row is the sum over its copies.
#include "ops/parallel/select_rows.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/embedding.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

Tensor chosen(Context& context, const Tensor& x, const Tensor& rows) {
  const Tensor y = context.empty({rows.numel(), x.shape()[1]}, x.dtype());
  context.launch(kernels::EmbeddingForward{.ids = rows.view(), .table = x.view(), .y = y.view()});
  return y;
}

}  // namespace

Var select_rows(Context& context, const Var& x, const RowChoice& choice) {
  Var result = autograd::variable(chosen(context, x.value, choice.rows));
  if (context.recording()) {
    context.record(result.slot,
                   [slot = x.slot, from = choice.from](Context& inner, const Tensor& gradient) {
                     autograd::accumulate(inner, slot, chosen(inner, gradient, from));
                   });
  }
  return result;
}

}  // namespace mpitron::ops
