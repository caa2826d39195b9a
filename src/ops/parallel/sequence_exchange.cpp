// Exchanges sequence for heads (Ulysses). Zigzag chunks are put into the order of the sequence
// behind the exchange, so that attention sees a plain sequence.
#include "ops/parallel/sequence_exchange.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {
namespace {

using autograd::Context;
using autograd::Slot;
using autograd::Var;
using comm::GroupHandle;
using tensor::Tensor;

/// f(rows of member j in [c * s_local, b, w / c], columns of member j in [s_local, b, w]).
template <class F>
void for_each_member(const Tensor& by_member, const Tensor& by_column, Index members, F&& f) {
  const Index rows = by_member.shape()[0] / members, columns = by_member.shape()[2];
  for (Index j = 0; j < members; ++j) {
    f(by_member.slice(0, j * rows, (j + 1) * rows).view(),
      by_column.slice(2, j * columns, (j + 1) * columns).view());
  }
}

Tensor exchanged(Context& context, const Tensor& x, comm::Group& group) {
  const Tensor y = context.empty(x.shape(), x.dtype());
  group.all_to_all(x, y).wait();
  return y;
}

using Exchange = Tensor (*)(Context&, const Tensor&, comm::Group&);

struct SequenceExchangeBackward {
  Slot x_slot;
  GroupHandle group;
  Exchange exchange;

  void operator()(Context& context, const Tensor& gradient) const {
    autograd::accumulate(context, x_slot, exchange(context, gradient, *group));
  }
};

Var exchange(Context& context, const Var& x, const GroupHandle& group, Exchange forward,
             Exchange backward) {
  if (group->size() == 1) {
    return x;
  }
  Var result = autograd::variable(forward(context, x.value, *group));
  if (context.recording()) {
    context.record(result.slot, SequenceExchangeBackward{x.slot, group, backward});
  }
  return result;
}

/// f(first row by member, first row in order, rows) for every chunk.
template <class F>
void for_each_chunk(Index length, Index ranks, F&& f) {
  for (Index rank = 0; rank < ranks; ++rank) {
    const SequenceSlice slice = zigzag_slice(length, ranks, rank);
    const Index held = rank * slice.length, split = slice.map.split;
    if (split > 0) {
      f(held, slice.map(0), split);
    }
    f(held + split, slice.map(split), slice.length - split);
  }
}

void copy_rows(Context& context, const Tensor& from, Index first_from, const Tensor& to,
               Index first_to, Index rows) {
  context.launch(kernels::Cast{.x = from.slice(0, first_from, first_from + rows).view(),
                               .y = to.slice(0, first_to, first_to + rows).view()});
}

}  // namespace

Tensor columns_to_heads(Context& context, const Tensor& x, comm::Group& group) {
  const Index c = group.size();
  MPITRON_CHECK(x.shape()[2] % c == 0, x.shape()[2], c);
  const Tensor sent = context.empty({c * x.shape()[0], x.shape()[1], x.shape()[2] / c}, x.dtype());
  for_each_member(sent, x, c, [&](const auto& member, const auto& columns) {
    context.launch(kernels::Cast{.x = columns, .y = member});
  });
  return in_sequence_order(context, exchanged(context, sent, group), c);
}

Tensor columns_to_sequence(Context& context, const Tensor& x, comm::Group& group) {
  const Index c = group.size();
  const Tensor received = exchanged(context, by_member(context, x, c), group);
  const Tensor y = context.empty({x.shape()[0] / c, x.shape()[1], x.shape()[2] * c}, x.dtype());
  for_each_member(received, y, c, [&](const auto& member, const auto& columns) {
    context.launch(kernels::Cast{.x = member, .y = columns});
  });
  return y;
}

Var sequence_to_heads(Context& context, const Var& x, const GroupHandle& group) {
  return exchange(context, x, group, columns_to_heads, columns_to_sequence);
}

Var heads_to_sequence(Context& context, const Var& x, const GroupHandle& group) {
  return exchange(context, x, group, columns_to_sequence, columns_to_heads);
}

Tensor in_sequence_order(Context& context, const Tensor& by_member, Index ranks) {
  const Tensor result = context.empty(by_member.shape(), by_member.dtype());
  for_each_chunk(by_member.shape()[0], ranks, [&](Index held, Index whole, Index rows) {
    copy_rows(context, by_member, held, result, whole, rows);
  });
  return result;
}

Tensor by_member(Context& context, const Tensor& in_order, Index ranks) {
  const Tensor result = context.empty(in_order.shape(), in_order.dtype());
  for_each_chunk(in_order.shape()[0], ranks, [&](Index held, Index whole, Index rows) {
    copy_rows(context, in_order, whole, result, held, rows);
  });
  return result;
}

}  // namespace mpitron::ops
