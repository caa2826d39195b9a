#include "ops/linear/overlapped_products.h"

#include "kernels/elementwise/elementwise.h"
#include "ops/parallel/collectives.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

/// Pieces that a rank's rows are summed in: enough to hide all but a quarter of the sums.
constexpr Index kPieces = 4;

/// Rows [begin, begin + count) of the sequence, as [t, columns].
Tensor rows_of(const Tensor& x, Index begin, Index count) {
  return fold_rows(x.slice(0, begin, begin + count));
}

Shape with_last(Shape shape, Index last) {
  shape[-1] = last;
  return shape;
}

}  // namespace

GatheredProduct gather_and_multiply(Context& context, const Tensor& x, Index out,
                                    const TensorParallel& shared, const Multiply& multiply) {
  const Index ranks = shared.size(), rank = shared.rank(), rows = x.shape()[0];
  const Shape shape = joined_shape(x.shape(), 0, ranks);
  const GatheredProduct product{context.empty(shape, x.dtype()),
                                context.empty(with_last(shape, out), x.dtype())};
  context.launch(
      kernels::Cast{.x = fold_rows(x).view(), .y = rows_of(product.x, rank * rows, rows).view()});
  std::vector<comm::Work> arriving;
  for (Index from = 0; from < ranks; ++from) {  // started in one order by all
    const Tensor piece = product.x.slice(0, from * rows, (from + 1) * rows);
    arriving.push_back(shared.group->broadcast(piece.view(), from));
  }
  for (Index step = 0; step < ranks; ++step) {
    const Index from = (rank + step) % ranks;
    if (from != rank) {
      arriving[static_cast<std::size_t>(from)].wait();
    }
    multiply(rows_of(product.x, from * rows, rows), rows_of(product.y, from * rows, rows));
  }
  arriving[static_cast<std::size_t>(rank)].wait();
  return product;
}

Tensor multiply_and_scatter(Context& context, const Tensor& x, Index out,
                            const TensorParallel& shared, const Multiply& multiply) {
  const Index ranks = shared.size();
  const Shape shape = with_last(piece_shape(x.shape(), 0, ranks), out);
  const Index rows = shape[0], pieces = rows % kPieces == 0 ? kPieces : 1, count = rows / pieces;
  const Tensor y = context.empty(shape, x.dtype());
  std::vector<Tensor> parts;  // kept until they are summed
  std::vector<comm::Work> sums;
  Shape part_shape = shape;
  part_shape[0] = ranks * count;
  for (Index piece = 0; piece < pieces; ++piece) {
    const Tensor& part = parts.emplace_back(context.empty(part_shape, x.dtype()));
    for (Index to = 0; to < ranks; ++to) {
      multiply(rows_of(x, to * rows + piece * count, count), rows_of(part, to * count, count));
    }
    const Tensor mine = y.slice(0, piece * count, (piece + 1) * count);
    sums.push_back(shared.group->reduce_scatter(part, mine.view()));
  }
  for (comm::Work& sum : sums) {
    sum.wait();
  }
  return y;
}

}  // namespace mpitron::ops
