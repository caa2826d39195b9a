#pragma once
#include "autograd/context.h"
#include "comm/groups/group.h"

namespace mpitron::ops {

// What differentiable communication is made of, on plain tensors. In a group of one each gives x
// itself. Numerical contract: comm/groups/group.h.

using autograd::Context;
using tensor::Tensor;

/// The sum of all ranks' x; in x's own memory where nobody else has it.
Tensor sum_over(Context& context, Tensor x, comm::Group& group);

/// All ranks' x one after the other along the first dimension.
Tensor join_first(Context& context, const Tensor& x, comm::Group& group);
/// A copy of this rank's piece of x along the first dimension.
Tensor piece_of_first(Context& context, const Tensor& x, comm::Group& group);
/// This rank's piece, along the first dimension, of the sum of all ranks' x.
Tensor sum_piece_of_first(Context& context, const Tensor& x, comm::Group& group);

/// Joins along the last dimension.
Tensor join_last(Context& context, const Tensor& x, comm::Group& group);
Tensor piece_of_last(Context& context, const Tensor& x, comm::Group& group);

/// The shape of one of `parts` equal pieces along a dimension, and of that many pieces together.
Shape piece_shape(Shape shape, int dim, Index parts);
Shape joined_shape(Shape shape, int dim, Index parts);

}  // namespace mpitron::ops
