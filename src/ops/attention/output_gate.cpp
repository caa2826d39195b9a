// Cuts the gate out of a fused projection and applies it to attention's output. Both ways are
// copies of columns and one elementwise kernel.
#include "ops/attention/output_gate.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/sigmoid_gate.h"
#include "ops/elementwise/copies.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// The columns of a group: queries, gates, rest.
struct GroupColumns {
  Index groups, queries, rest;

  Index whole() const { return 2 * queries + rest; }
  /// x of so many columns a group, as rows of groups.
  Tensor by_group(const Tensor& x, Index columns) const {
    return x.reshape({x.numel() / columns, columns});
  }
  /// Copies between the fused rows and the two parts, in either direction.
  template <class Copy>
  void for_each_part(const Tensor& fused, const Tensor& others, const Tensor& gates,
                     Copy&& copy) const {
    const Tensor all = by_group(fused, whole()), left = by_group(others, queries + rest);
    copy(all.slice(1, 0, queries), left.slice(1, 0, queries));
    copy(all.slice(1, queries, 2 * queries), by_group(gates, queries));
    copy(all.slice(1, 2 * queries, whole()), left.slice(1, queries, queries + rest));
  }
};

struct OutputGateBackward {
  Tensor x, gate;
  Slot x_slot, gate_slot;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dx = context.empty(x.shape(), x.dtype());
    const Tensor dgate = context.empty(x.shape(), x.dtype());
    context.launch(kernels::SigmoidGateBackward{.x = fold_rows(x).view(),
                                                .gate = fold_rows(gate).view(),
                                                .dy = fold_rows(gradient).view(),
                                                .dx = fold_rows(dx).view(),
                                                .dgate = fold_rows(dgate).view()});
    autograd::accumulate(context, x_slot, dx);
    autograd::accumulate(context, gate_slot, dgate);
  }
};

}  // namespace

std::pair<Var, Var> split_gate(Context& context, const Var& x, Index groups, Index queries) {
  const Shape& shape = x.shape();
  const GroupColumns columns{groups, queries, shape[-1] / groups - 2 * queries};
  MPITRON_CHECK(columns.rest >= 0 && shape[-1] == groups * columns.whole(), to_string(shape),
                groups, queries);
  const auto part = [&](Index width) {
    return autograd::variable(context.empty({shape[0], shape[1], groups * width}, x.value.dtype()));
  };
  Var others = part(queries + columns.rest), gates = part(queries);
  columns.for_each_part(x.value, others.value, gates.value,
                        [&](const Tensor& from, const Tensor& to) { copy(context, from, to); });
  if (context.recording()) {
    const auto join = [slot = x.slot, others, gates, columns](Context& inner) {
      const Tensor dothers = autograd::take_gradient(others.slot);
      const Tensor dgates = autograd::take_gradient(gates.slot);
      if (!dothers && !dgates) {
        return;
      }
      const Shape& own = others.shape();
      const Tensor dx =
          inner.empty({own[0], own[1], columns.groups * columns.whole()}, others.value.dtype());
      columns.for_each_part(dx, dothers ? dothers : zeros_like(inner, others.value),
                            dgates ? dgates : zeros_like(inner, gates.value),
                            [&](const Tensor& to, const Tensor& from) { copy(inner, from, to); });
      autograd::accumulate(inner, slot, dx);
    };
    context.record_always(join);
  }
  return {others, gates};
}

Var output_gate(Context& context, const Var& x, const Var& gate) {
  MPITRON_CHECK(x.shape() == gate.shape(), to_string(x.shape()), to_string(gate.shape()));
  Var result = autograd::variable(context.empty(x.shape(), x.value.dtype()));
  context.launch(kernels::SigmoidGateForward{.x = fold_rows(x.value).view(),
                                             .gate = fold_rows(gate.value).view(),
                                             .y = fold_rows(result.value).view()});
  if (context.recording()) {
    context.record(result.slot, OutputGateBackward{x.value, gate.value, x.slot, gate.slot});
  }
  return result;
}

}  // namespace mpitron::ops
