#include "ops/sequence_exchange.h"

#include "autograd/gradient.h"
#include "kernels/elementwise.h"
#include "ops/sequence_pieces.h"

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

Tensor to_heads(Context& context, const Tensor& x, comm::Group& group) {
  const Index c = group.size();
  MPITRON_CHECK(x.shape()[2] % c == 0, x.shape()[2], c);
  const Tensor sent = context.empty({c * x.shape()[0], x.shape()[1], x.shape()[2] / c}, x.dtype());
  for_each_member(sent, x, c, [&](const auto& member, const auto& columns) {
    context.launch(kernels::Cast{.x = columns, .y = member});
  });
  return in_sequence_order(context, exchanged(context, sent, group), c);
}

Tensor to_sequence(Context& context, const Tensor& x, comm::Group& group) {
  const Index c = group.size();
  const Tensor received = exchanged(context, by_member(context, x, c), group);
  const Tensor y = context.empty({x.shape()[0] / c, x.shape()[1], x.shape()[2] * c}, x.dtype());
  for_each_member(received, y, c, [&](const auto& member, const auto& columns) {
    context.launch(kernels::Cast{.x = member, .y = columns});
  });
  return y;
}

using Exchange = Tensor (*)(Context&, const Tensor&, comm::Group&);

struct ExchangeBackward {
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
    context.tape->record(result.slot, ExchangeBackward{x.slot, group, backward});
  }
  return result;
}

}  // namespace

Var sequence_to_heads(Context& context, const Var& x, const GroupHandle& group) {
  return exchange(context, x, group, to_heads, to_sequence);
}

Var heads_to_sequence(Context& context, const Var& x, const GroupHandle& group) {
  return exchange(context, x, group, to_sequence, to_heads);
}

}  // namespace mpitron::ops
