// Attention of a decoder's queries to an encoder's output (T5). Keys and values come from another
// tensor than the queries, so there are two gradients with forms of their own.
#include "ops/attention/cross_attention.h"

#include "autograd/gradient.h"
#include "ops/attention/attention_block.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using device::ConstTensorView;
using tensor::Tensor;

/// A fused tensor of the groups' keys and values without queries.
QkvLayout keys_values_layout(const QkvLayout& layout) {
  return {.heads = 0, .query_groups = layout.query_groups, .head_dim = layout.head_dim};
}

AttentionKeys keys_of(const Tensor& keys_values, const QkvLayout& layout) {
  const ConstTensorView view = keys_values;
  const QkvLayout own = keys_values_layout(layout);
  return {.k = own.keys(view), .v = own.values(view), .positions = {}};
}

ConstTensorView cross_queries(const Tensor& queries, const QkvLayout& layout) {
  return heads_of(ConstTensorView(queries), layout);
}

struct CrossAttentionBackward {
  Tensor queries, keys_values;
  Attended attended;
  Slot queries_slot, keys_values_slot;
  AttentionSettings settings;

  void operator()(Context& context, const Tensor& gradient) const {
    const QkvLayout& layout = settings.layout;
    const QkvLayout fused = keys_values_layout(layout);
    const Tensor dq = context.empty(queries.shape(), queries.dtype());
    const Tensor dkv = context.empty(keys_values.shape(), keys_values.dtype());
    launch_backward(
        context, cross_queries(queries, layout), keys_of(keys_values, layout), settings, attended,
        {gradient, heads_of(dq.view(), layout), fused.keys(dkv.view()), fused.values(dkv.view())});
    autograd::accumulate(context, queries_slot, dq);
    autograd::accumulate(context, keys_values_slot, dkv);
  }
};

}  // namespace

Var cross_attention(Context& context, const Var& queries, const Var& keys_values,
                    const AttentionSettings& settings) {
  MPITRON_CHECK(!settings.causal && !settings.bias.value, settings.causal);
  const Attended attended = empty_attended(context, queries.value, settings, queries.value.dtype());
  launch_forward(context, cross_queries(queries.value, settings.layout),
                 keys_of(keys_values.value, settings.layout), settings, attended);
  Var result = autograd::variable(attended.o);
  if (context.recording()) {
    context.record(result.slot, CrossAttentionBackward{queries.value, keys_values.value, attended,
                                                       queries.slot, keys_values.slot, settings});
  }
  return result;
}

}  // namespace mpitron::ops
