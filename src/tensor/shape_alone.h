#pragma once
#include "tensor/tensor.h"

namespace mpitron::tensor {

/// Returns a tensor of this one's shape and type that has no memory: for what is asked how large it
/// is, and is read elsewhere. Its elements lie at no address.
Tensor shape_alone(const Tensor& x);

}  // namespace mpitron::tensor
