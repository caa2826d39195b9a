// Communication on plain tensors, from which differentiable ops are made. Each function waits for
// its operation; in a group of one it returns its argument.
#include "ops/parallel/collectives.h"

#include "kernels/elementwise/elementwise.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

Tensor copy_of(Context& context, const device::ConstTensorView& x) {
  const Tensor y = context.empty(x.shape, x.dtype);
  context.launch(kernels::Cast{.x = x, .y = y.view()});
  return y;
}

}  // namespace

Shape piece_shape(Shape shape, int dim, Index parts) {
  MPITRON_CHECK(shape[dim] % parts == 0, to_string(shape), dim, parts);
  shape[dim] /= parts;
  return shape;
}

Shape joined_shape(Shape shape, int dim, Index parts) {
  shape[dim] *= parts;
  return shape;
}

Tensor sum_over(Context& context, Tensor x, comm::Group& group) {
  if (group.size() == 1) {
    return x;
  }
  const Tensor sum = x.unique() ? std::move(x) : copy_of(context, x);
  group.all_reduce(sum.view()).wait();
  return sum;
}

Tensor join_first(Context& context, const Tensor& x, comm::Group& group) {
  if (group.size() == 1) {
    return x;
  }
  const Tensor y = context.empty(joined_shape(x.shape(), 0, group.size()), x.dtype());
  group.all_gather(x, y.view()).wait();
  return y;
}

Tensor piece_of_first(Context& context, const Tensor& x, comm::Group& group) {
  if (group.size() == 1) {
    return x;
  }
  const Index n = piece_shape(x.shape(), 0, group.size())[0];
  return copy_of(context, x.slice(0, group.rank() * n, (group.rank() + 1) * n));
}

Tensor sum_piece_of_first(Context& context, const Tensor& x, comm::Group& group) {
  if (group.size() == 1) {
    return x;
  }
  const Tensor y = context.empty(piece_shape(x.shape(), 0, group.size()), x.dtype());
  group.reduce_scatter(x, y.view()).wait();
  return y;
}

Tensor join_last(Context& context, const Tensor& x, comm::Group& group) {
  if (group.size() == 1) {
    return x;
  }
  const Tensor pieces = join_first(context, fold_rows(x), group);
  const Tensor y = context.empty(joined_shape(x.shape(), -1, group.size()), x.dtype());
  const Index n = x.shape()[-1], t = x.numel() / n;
  const Tensor rows = fold_rows(y);
  for (Index rank = 0; rank < group.size(); ++rank) {
    context.launch(kernels::Cast{.x = pieces.slice(0, rank * t, (rank + 1) * t).view(),
                                 .y = rows.slice(1, rank * n, (rank + 1) * n).view()});
  }
  return y;
}

Tensor piece_of_last(Context& context, const Tensor& x, comm::Group& group) {
  if (group.size() == 1) {
    return x;
  }
  const Shape shape = piece_shape(x.shape(), -1, group.size());
  const Index n = shape[-1];
  const Tensor rows = fold_rows(x);
  return copy_of(context, rows.slice(1, group.rank() * n, (group.rank() + 1) * n)).reshape(shape);
}

}  // namespace mpitron::ops
