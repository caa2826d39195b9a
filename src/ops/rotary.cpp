#include "ops/rotary.h"

#include "autograd/gradient.h"
#include "kernels/rotary.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

void rotate(Context& context, const Tensor& qkv, const QkvLayout& layout,
            const RotaryTables& tables, bool inverse) {
  // A group's queries and its key lie side by side: one launch for both.
  context.launch(kernels::RotaryEmbedding{
      .x = layout.heads_of_groups(qkv.view(), 0, layout.queries_per_group() + 1),
      .cos = tables.cos.view(),
      .sin = tables.sin.view(),
      .interleaved = tables.interleaved,
      .inverse = inverse});
}

struct RotaryBackward {
  Slot qkv_slot;
  QkvLayout layout;
  RotaryTables tables;

  void operator()(Context& context, Tensor gradient) const {
    MPITRON_CHECK(gradient.unique());
    rotate(context, gradient, layout, tables, true);
    autograd::accumulate(context, qkv_slot, std::move(gradient));
  }
};

}  // namespace

Var rotary(Context& context, const Var& qkv, const QkvLayout& layout, const RotaryTables& tables) {
  rotate(context, qkv.value, layout, tables, false);
  Var result = autograd::variable(qkv.value);
  if (context.recording()) {
    context.tape->record(result.slot, RotaryBackward{qkv.slot, layout, tables});
  }
  return result;
}

}  // namespace mpitron::ops
