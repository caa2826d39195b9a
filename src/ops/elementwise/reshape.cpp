// Changes shapes, splits and joins columns. A reshape shares its memory in both directions; columns
// are copied, since kernels want contiguous rows.
#include "ops/elementwise/reshape.h"

#include "autograd/gradient.h"
#include "ops/elementwise/copies.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

Var reshape(Context& context, const Var& x, const Shape& shape) {
  Var result = autograd::variable(x.value.reshape(shape));
  if (context.recording()) {
    context.record(result.slot, [slot = x.slot, from = x.shape()](Context& inner,
                                                                  const tensor::Tensor& gradient) {
      autograd::accumulate(inner, slot, gradient.reshape(from));
    });
  }
  return result;
}

namespace {

using autograd::Slot;
using tensor::Tensor;

Tensor columns_of(const Tensor& x, Index begin, Index end) {
  return x.slice(x.shape().rank() - 1, begin, end);
}

Tensor joined(Context& context, const Tensor& left, const Tensor& right) {
  const Index columns = left.shape()[-1], all = columns + right.shape()[-1];
  Shape shape = left.shape();
  shape[-1] = all;
  const Tensor both = context.empty(shape, left.dtype());
  copy(context, left, columns_of(both, 0, columns));
  copy(context, right, columns_of(both, columns, all));
  return both;
}

}  // namespace

std::pair<Var, Var> split_columns(Context& context, const Var& x, Index columns) {
  Var left = autograd::variable(copy_of(context, columns_of(x.value, 0, columns)));
  Var right = autograd::variable(copy_of(context, columns_of(x.value, columns, x.shape()[-1])));
  if (context.recording()) {
    const auto join = [slot = x.slot, left, right](Context& inner) {
      const Tensor from_left = autograd::take_gradient(left.slot);
      const Tensor from_right = autograd::take_gradient(right.slot);
      if (from_left || from_right) {
        autograd::accumulate(inner, slot,
                             joined(inner, from_left ? from_left : zeros_like(inner, left.value),
                                    from_right ? from_right : zeros_like(inner, right.value)));
      }
    };
    context.record_always(join);
  }
  return {left, right};
}

Var join_columns(Context& context, const Var& left, const Var& right) {
  Var result = autograd::variable(joined(context, left.value, right.value));
  if (context.recording()) {
    const auto split = [left_slot = left.slot, right_slot = right.slot, columns = left.shape()[-1]](
                           Context& inner, const Tensor& gradient) {
      autograd::accumulate(inner, left_slot, copy_of(inner, columns_of(gradient, 0, columns)));
      autograd::accumulate(inner, right_slot,
                           copy_of(inner, columns_of(gradient, columns, gradient.shape()[-1])));
    };
    context.record(result.slot, split);
  }
  return result;
}

}  // namespace mpitron::ops
