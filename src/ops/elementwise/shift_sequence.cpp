// Shifts labels or masks by one position over ranks that hold zigzag slices: only the first rows of
// slices travel, in a gather for each half, since the row behind a slice's end is another's first.
#include "ops/elementwise/shift_sequence.h"

#include "kernels/elementwise/shift_rows.h"

namespace mpitron::ops {
namespace {

using autograd::Context;
using tensor::Tensor;

/// Everybody's row `row`: [members, b].
Tensor gathered_row(Context& context, const Tensor& x, Index row, comm::Group& group) {
  const Tensor all = context.empty({group.size(), x.shape()[1]}, x.dtype());
  group.all_gather(x.slice(0, row, row + 1), all).wait();
  return all;
}

}  // namespace

Tensor shift_sequence(Context& context, const Tensor& x, comm::Group& group) {
  const Tensor y = context.empty(x.shape(), x.dtype());
  if (group.size() == 1) {
    context.launch(kernels::ShiftRows{
        .x = x.view(), .first_after = {}, .second_after = {}, .parts = 1, .y = y.view()});
    return y;
  }
  // Of 2c chunks this member has chunks r and 2c - 1 - r. Behind the first comes the next member's
  // first, behind the second the second of the member before.
  const Index r = group.rank(), last = group.size() - 1;
  const Tensor first_rows = gathered_row(context, x, 0, group);
  const Tensor second_rows = gathered_row(context, x, x.shape()[0] / 2, group);
  const Tensor first_after =
      r < last ? first_rows.slice(0, r + 1, r + 2) : second_rows.slice(0, r, r + 1);
  const Tensor second_after = r > 0 ? second_rows.slice(0, r - 1, r) : Tensor();
  context.launch(kernels::ShiftRows{.x = x.view(),
                                    .first_after = first_after.view(),
                                    .second_after = second_after.view(),
                                    .parts = 2,
                                    .y = y.view()});
  return y;
}

}  // namespace mpitron::ops
