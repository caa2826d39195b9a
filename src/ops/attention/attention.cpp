// Attention of whole sequences on one rank. Queries, keys and values lie side by side in one fused
// tensor and are passed as strided views, so nothing is copied; the backward pass writes its
// gradients into one tensor of the same form.
#include "ops/attention/attention.h"

#include "autograd/gradient.h"
#include "ops/attention/attention_block.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using device::ConstTensorView;
using tensor::Tensor;

/// The keys and values beside the queries.
AttentionKeys own_keys(const Tensor& qkv, const QkvLayout& layout) {
  const ConstTensorView view = qkv;
  return {.k = layout.keys(view), .v = layout.values(view), .positions = {}};
}

ConstTensorView queries_of(const Tensor& qkv, const QkvLayout& layout) {
  return layout.queries(ConstTensorView(qkv));
}

struct AttentionBackward {
  autograd::SavedValue kept_qkv;
  Attended attended;
  Slot qkv_slot;
  AttentionSettings settings;

  void operator()(Context& context, const Tensor& gradient) const {
    const QkvLayout& layout = settings.layout;
    const Tensor qkv = kept_qkv(context);
    const Tensor dqkv = context.empty(qkv.shape(), qkv.dtype());
    const BiasGradient dbias(context, settings, qkv.shape()[1]);
    launch_backward(context, queries_of(qkv, layout), own_keys(qkv, layout), settings, attended,
                    {gradient, layout.queries(dqkv.view()), layout.keys(dqkv.view()),
                     layout.values(dqkv.view()), dbias.view()});
    add_sink_gradient(context, settings, attended, gradient);
    autograd::accumulate(context, qkv_slot, dqkv);
    dbias.accumulate(context);
  }
};

}  // namespace

Var attention(Context& context, const Recomputable& input, const AttentionSettings& settings) {
  const Var& qkv = input.var;
  const Attended attended = empty_attended(context, qkv.value, settings, qkv.value.dtype());
  launch_forward(context, queries_of(qkv.value, settings.layout),
                 own_keys(qkv.value, settings.layout), settings, attended);
  join_sink(context, settings, attended);
  Var result = autograd::variable(attended.o);
  if (context.recording()) {
    context.record(result.slot,
                   AttentionBackward{autograd::SavedValue(input), attended, qkv.slot, settings});
  }
  return result;
}

}  // namespace mpitron::ops
