#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

/// x under another shape of as many elements; the memory is x's.
autograd::Var reshape(autograd::Context& context, const autograd::Var& x, const Shape& shape);

}  // namespace mpitron::ops
