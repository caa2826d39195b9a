#include "ops/split_columns.h"

#include "autograd/gradient.h"
#include "kernels/elementwise.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

Tensor part_of(Context& context, const Tensor& x, Index begin, Index end) {
  const Tensor columns = x.slice(x.shape().rank() - 1, begin, end);
  const Tensor part = context.empty(columns.shape(), x.dtype());
  context.launch(kernels::Cast{.x = columns.view(), .y = part.view()});
  return part;
}

void put_part(Context& context, const Tensor& part, const device::TensorView& to) {
  if (part) {
    context.launch(kernels::Cast{.x = part.view(), .y = to});
    return;
  }
  const Tensor zeros = context.empty(to.shape, to.dtype);
  context.launch(kernels::Fill{.x = zeros.view(), .value = 0});
  context.launch(kernels::Cast{.x = zeros.view(), .y = to});
}

}  // namespace

std::pair<Var, Var> split_columns(Context& context, const Var& x, Index columns) {
  const Index all = x.shape()[-1];
  const int last = x.shape().rank() - 1;
  Var left = autograd::variable(part_of(context, x.value, 0, columns));
  Var right = autograd::variable(part_of(context, x.value, columns, all));
  if (context.recording()) {
    const auto join = [slot = x.slot, left_slot = left.slot, right_slot = right.slot, columns, last,
                       shape = x.shape(), dtype = x.value.dtype()](Context& inner) {
      const Tensor from_left = autograd::take_gradient(left_slot);
      const Tensor from_right = autograd::take_gradient(right_slot);
      if (!from_left && !from_right) {
        return;
      }
      const Tensor dx = inner.empty(shape, dtype);
      put_part(inner, from_left, dx.slice(last, 0, columns).view());
      put_part(inner, from_right, dx.slice(last, columns, shape[last]).view());
      autograd::accumulate(inner, slot, dx);
    };
    context.tape->record_always(join);
  }
  return {left, right};
}

}  // namespace mpitron::ops
