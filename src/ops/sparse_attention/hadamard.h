#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

/// Turns every `size` neighbouring columns of x, [.., n size], by a Hadamard matrix, in place: the
/// op that made x must not have saved it. So large numbers of single columns are spread over all.
///
/// Numerical contract: kernels/sparse_attention/hadamard.h; backward is the same of the gradient.
autograd::Var hadamard(autograd::Context& context, const autograd::Var& x, Index size);

}  // namespace mpitron::ops
