// Attention with all keys gathered on every rank (`--cp-comm-type all_gather`): one kernel sees the
// whole sequence, and gradients of keys and values are summed in rank order. Keys are gathered
// again for the backward pass instead of being kept.
#include "autograd/gradient.h"
#include "ops/attention/attention_block.h"
#include "ops/attention/context_attention.h"
#include "ops/parallel/sequence_exchange.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using comm::GroupHandle;
using device::ConstTensorView;
using tensor::Tensor;

/// Returns the positions of this member's queries among all keys.
kernels::AttentionPositions positions_of(const Tensor& qkv, const comm::Group& group) {
  const Index s = qkv.shape()[0] * group.size();
  return {.queries = zigzag_slice(s, group.size(), group.rank()).map, .keys = {}};
}

Shape all_rows(const Tensor& own, Index members) {
  const Shape& shape = own.shape();
  return {members * shape[0], shape[1], shape[2], shape[3]};
}

struct GatheredBackward {
  autograd::SavedValue kept_qkv;
  Attended attended;
  Slot qkv_slot;
  AttentionSettings settings;
  GroupHandle group;

  void operator()(Context& context, const Tensor& gradient) const {
    const QkvLayout& layout = settings.layout;
    const Tensor qkv = kept_qkv(context);
    const Tensor keys = gathered_keys(context, qkv, layout, *group);
    const Tensor dqkv = context.empty(qkv.shape(), qkv.dtype());
    const Tensor dkeys = context.empty(keys.shape(), wide_type(qkv.dtype()));
    launch_backward(context, layout.queries(ConstTensorView(qkv)),
                    keys_of(keys, layout, positions_of(qkv, *group)), settings, attended,
                    gradients_of(gradient, layout.queries(dqkv.view()), dkeys, layout));
    const Tensor pieces = by_member(context, dkeys, group->size());
    const Tensor own = context.empty(
        {qkv.shape()[0], pieces.shape()[1], pieces.shape()[2], pieces.shape()[3]}, pieces.dtype());
    group->reduce_scatter(pieces, own).wait();
    unpack_gradients(context, own, layout, dqkv);
    add_sink_gradient(context, settings, attended, gradient);
    autograd::accumulate(context, qkv_slot, dqkv);
  }
};

}  // namespace

Tensor gathered_keys(Context& context, const Tensor& qkv, const QkvLayout& layout,
                     comm::Group& group) {
  const Tensor own = packed_keys(context, qkv, layout);
  const Tensor all = context.empty(all_rows(own, group.size()), own.dtype());
  group.all_gather(own, all).wait();
  return in_sequence_order(context, all, group.size());
}

Var gathered_attention(Context& context, const Recomputable& input,
                       const AttentionSettings& settings, const GroupHandle& group) {
  const Var& qkv = input.var;
  const Tensor keys = gathered_keys(context, qkv.value, settings.layout, *group);
  const Attended attended = empty_attended(context, qkv.value, settings, qkv.value.dtype());
  launch_forward(context, settings.layout.queries(ConstTensorView(qkv.value)),
                 keys_of(keys, settings.layout, positions_of(qkv.value, *group)), settings,
                 attended);
  join_sink(context, settings, attended);
  Var result = autograd::variable(attended.o);
  if (context.recording()) {
    context.record(result.slot, GatheredBackward{autograd::SavedValue(input), attended, qkv.slot,
                                                 settings, group});
  }
  return result;
}

}  // namespace mpitron::ops
