// Attention around a ring (Liu et al. 2023; `--cp-comm-type p2p`): keys and values travel from rank
// to rank while each attends to those it has. Parts are merged in fp32 (fp64 in fp64), the rank's
// own first. In the backward pass they travel again, and their gradients behind them to the owner.
#include "autograd/gradient.h"
#include "kernels/attention/attention_merge.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/attention/attention_block.h"
#include "ops/attention/context_attention.h"
#include "ops/elementwise/cast.h"
#include "ops/parallel/ring_exchange.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using comm::GroupHandle;
using device::ConstTensorView;
using tensor::Tensor;

/// The keys that are here, with the positions of this member's queries and of theirs.
AttentionKeys keys_here(const PieceRing& ring, const QkvLayout& layout, const comm::Group& group) {
  const Tensor& keys = ring.here();
  const Index c = group.size(), s = keys.shape()[0] * c;
  return keys_of(keys, layout,
                 {.queries = zigzag_slice(s, c, group.rank()).map,
                  .keys = zigzag_slice(s, c, ring.owner()).map});
}

void merge(Context& context, const Attended& whole, const Attended& part, const QkvLayout& layout) {
  const auto by_head = [&](const Tensor& o) {
    return o.reshape({o.shape()[0], o.shape()[1], layout.heads, layout.value_dim});
  };
  context.launch(kernels::AttentionMerge{.o = by_head(whole.o).view(),
                                         .lse = whole.lse.view(),
                                         .part_o = by_head(part.o).view(),
                                         .part_lse = part.lse.view()});
}

struct RingBackward {
  autograd::SavedValue kept_qkv;
  Attended attended;
  Slot qkv_slot;
  AttentionSettings settings;
  GroupHandle group;

  void operator()(Context& context, const Tensor& gradient) const {
    const QkvLayout& layout = settings.layout;
    const Tensor qkv = kept_qkv(context);
    const DType wide = wide_type(qkv.dtype());
    const Tensor dq =
        context.empty({qkv.shape()[0], qkv.shape()[1], layout.heads * layout.head_dim}, wide);
    const Tensor dq_part = context.empty(dq.shape(), wide);
    PieceRing keys(context, *group, packed_keys(context, qkv, layout));
    GradientRing dkeys(context, *group, keys.here().shape(), wide);
    for (bool first = true; !keys.done(); first = false) {
      const Tensor& contribution = dkeys.start_step();
      keys.start_step();
      const Tensor& to = first ? dq : dq_part;
      launch_backward(context, layout.queries(ConstTensorView(qkv)),
                      keys_here(keys, layout, *group), settings, attended,
                      gradients_of(gradient, heads_of(to.view(), layout), contribution, layout));
      if (!first) {
        context.launch(kernels::Add{.a = dq.view(), .b = dq_part.view(), .y = dq.view()});
      }
      dkeys.finish_step();
      keys.finish_step();
    }
    const Tensor dqkv = context.empty(qkv.shape(), qkv.dtype());
    context.launch(
        kernels::Cast{.x = heads_of(dq.view(), layout), .y = layout.queries(dqkv.view())});
    unpack_gradients(context, dkeys.home(), layout, dqkv);
    add_sink_gradient(context, settings, attended, gradient);
    autograd::accumulate(context, qkv_slot, dqkv);
  }
};

}  // namespace

Var ring_attention(Context& context, const Recomputable& input, const AttentionSettings& settings,
                   const GroupHandle& group) {
  const Var& qkv = input.var;
  const DType dtype = qkv.value.dtype(), wide = wide_type(dtype);
  Attended attended = empty_attended(context, qkv.value, settings, wide);
  const Attended part = empty_attended(context, qkv.value, settings, wide);
  PieceRing keys(context, *group, packed_keys(context, qkv.value, settings.layout));
  for (bool first = true; !keys.done(); first = false) {
    keys.start_step();
    launch_forward(context, settings.layout.queries(ConstTensorView(qkv.value)),
                   keys_here(keys, settings.layout, *group), settings, first ? attended : part);
    if (!first) {
      merge(context, attended, part, settings.layout);
    }
    keys.finish_step();
  }
  join_sink(context, settings, attended);
  attended.o = converted(context, attended.o, dtype);
  Var result = autograd::variable(attended.o);
  if (context.recording()) {
    context.record(result.slot,
                   RingBackward{autograd::SavedValue(input), attended, qkv.slot, settings, group});
  }
  return result;
}

}  // namespace mpitron::ops
