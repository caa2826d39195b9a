// The three products of linear layers: output, gradient of the input, gradient of the weight. Here
// a layer's weight decides how they are made: packed, in 8 bits, in 4 bits, or as it is; sums over
// ranks may run beside them.
#include "ops/linear/linear_products.h"

#include "autograd/cached_pass.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "kernels/linear/packed_matmul.h"
#include "ops/elementwise/bias_dropout_add.h"
#include "ops/linear/fp8_products.h"
#include "ops/parallel/collectives.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using tensor::Tensor;

namespace {

/// Multiplies by a weight that is packed for generation.
void multiply_packed(Context& context, const Tensor& x, const Parameter& weight,
                     const Parameter* bias, const Tensor& y) {
  kernels::PackedMatmul product{.x = x.view(),
                                .packed = context.cached->weights.of(weight).view(),
                                .bias = {},
                                .y = y.view(),
                                .workspace = {},
                                .format = context.cached->weights.format()};
  if (bias != nullptr) {
    product.bias = bias->value.view();
  }
  context.launch_with_workspace(product);
}

}  // namespace

void multiply(Context& context, const Tensor& x, const Parameter& weight, const Parameter* bias,
              const Tensor& y) {
  MPITRON_CHECK(x.shape()[1] == weight.local_shape()[1], to_string(x.shape()), weight.name);
  if (context.cached != nullptr && context.cached->weights.packs() && !weight.four_bits) {
    return multiply_packed(context, x, weight, bias, y);
  }
  if (weight.fp8) {
    return multiply_in_fp8(context, x, weight, bias, y);
  }
  const Tensor numbers = weight_numbers(context, weight);
  kernels::Matmul product{.a = x.view(), .b = numbers.view(), .c = y.view(), .transpose_b = true};
  if (bias != nullptr) {
    product.bias = bias->value.view();
  }
  context.launch_with_workspace(product);
}

void multiply_back(Context& context, const Tensor& dy, const Parameter& weight, const Tensor& dx) {
  if (weight.fp8) {
    return multiply_back_in_fp8(context, dy, weight, dx);
  }
  const Tensor numbers = weight_numbers(context, weight);
  context.launch_with_workspace(
      kernels::Matmul{.a = dy.view(), .b = numbers.view(), .c = dx.view()});
}

Tensor linear_output(Context& context, const Tensor& x, Parameter& weight, Parameter* bias) {
  context.use(weight);
  if (bias != nullptr) {
    context.use(*bias);
  }
  const Tensor y = context.empty({x.shape()[0], weight.local_shape()[0]}, x.dtype());
  multiply(context, x, weight, bias, y);
  return y;
}

Tensor linear_input_gradient(Context& context, const Tensor& dy, const Parameter& weight) {
  const Tensor dx = context.empty({dy.shape()[0], weight.local_shape()[1]}, dy.dtype());
  multiply_back(context, dy, weight, dx);
  return dx;
}

void accumulate_weight(Context& context, Parameter& weight, const Tensor& dy, const Tensor& x) {
  autograd::accumulate_parameter(
      context, weight, [&](const device::TensorView& sink, bool accumulate) {
        if (weight.fp8 && weight.fp8->weight_gradient) {
          return weight_gradient_in_fp8(context, dy, x, weight, sink, accumulate);
        }
        context.launch_with_workspace(kernels::Matmul{.a = dy.view(),
                                                      .b = x.view(),
                                                      .c = sink,
                                                      .transpose_a = true,
                                                      .accumulate = accumulate});
      });
}

void accumulate_linear(Context& context, Parameter& weight, Parameter* bias, const Tensor& dy,
                       const Tensor& x) {
  if (autograd::defers(context, weight)) {
    context.recorder.deferred->add(
        weight, [&weight, dy, x](Context& later) { accumulate_weight(later, weight, dy, x); });
  } else {
    accumulate_weight(context, weight, dy, x);
  }
  accumulate_bias(context, bias, dy);
}

namespace {

/// Pieces that a rank's rows are summed in: enough to hide all but a quarter of the sums.
constexpr Index kPieces = 4;

/// Rows [begin, begin + count) of the sequence, as [t, columns].
Tensor folded_rows(const Tensor& x, Index begin, Index count) {
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
  context.launch(kernels::Cast{.x = fold_rows(x).view(),
                               .y = folded_rows(product.x, rank * rows, rows).view()});
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
    multiply(folded_rows(product.x, from * rows, rows), folded_rows(product.y, from * rows, rows));
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
      multiply(folded_rows(x, to * rows + piece * count, count),
               folded_rows(part, to * count, count));
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
