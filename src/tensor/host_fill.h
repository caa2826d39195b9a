#pragma once
#include <functional>

#include "tensor/tensor.h"

namespace mpitron::tensor {

/// f(view) writes the values of a contiguous tensor where the host can, in its memory or in one
/// that is copied there. Returns when the tensor has them.
void fill(device::Device& device, const Tensor& x, const std::function<void(const TensorView&)>& f);

}  // namespace mpitron::tensor
