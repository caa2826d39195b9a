#include "ops/sequence_pieces.h"

#include "kernels/elementwise.h"

namespace mpitron::ops {
namespace {

using autograd::Context;
using tensor::Tensor;

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
