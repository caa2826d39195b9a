// Takes and joins rows of the sequence. Taken rows are a view of the whole, and their gradient is
// copied among zeros; joined ones are a copy, and their gradients views of the whole's.
#include "ops/parallel/sequence_rows.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

void copy_rows(Context& context, const Tensor& from, const Tensor& to) {
  context.launch(kernels::Cast{.x = from.view(), .y = to.view()});
}

struct TakeBackward {
  Shape shape;  // of x
  Slot x_slot;
  Index first, last;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dx = context.empty(shape, gradient.dtype());
    context.launch(kernels::Fill{.x = dx.view()});
    copy_rows(context, gradient, dx.slice(0, first, last));
    autograd::accumulate(context, x_slot, dx);
  }
};

struct JoinRowsBackward {
  Slot a_slot, b_slot;
  Index rows_of_a;

  void operator()(Context& context, const Tensor& gradient) const {
    const Index rows = gradient.shape()[0];
    autograd::accumulate(context, a_slot, gradient.slice(0, 0, rows_of_a));
    autograd::accumulate(context, b_slot, gradient.slice(0, rows_of_a, rows));
  }
};

}  // namespace

Var take_rows(Context& context, const Var& x, Index first, Index last) {
  Var result = autograd::variable(x.value.slice(0, first, last));
  if (context.recording()) {
    context.record(result.slot, TakeBackward{x.shape(), x.slot, first, last});
  }
  return result;
}

Var join_rows(Context& context, const Var& a, const Var& b) {
  Shape shape = a.shape();
  shape[0] += b.shape()[0];
  const Tensor y = context.empty(shape, a.value.dtype());
  copy_rows(context, a.value, y.slice(0, 0, a.shape()[0]));
  copy_rows(context, b.value, y.slice(0, a.shape()[0], shape[0]));
  Var result = autograd::variable(y);
  if (context.recording()) {
    context.record(result.slot, JoinRowsBackward{a.slot, b.slot, a.shape()[0]});
  }
  return result;
}

}  // namespace mpitron::ops
