#pragma once
#include "autograd/context.h"
#include "kernels/elementwise/elementwise.h"

// What the backward passes of several ops do with tensors; nothing here is recorded.

namespace mpitron::ops {

/// Copies the elements of `from` to those of `to`, which has its shape and any strides.
inline void copy(autograd::Context& context, const tensor::Tensor& from, const tensor::Tensor& to) {
  context.launch(kernels::Cast{.x = from.view(), .y = to.view()});
}

/// A contiguous copy of x.
inline tensor::Tensor copy_of(autograd::Context& context, const tensor::Tensor& x) {
  const tensor::Tensor result = context.empty(x.shape(), x.dtype());
  copy(context, x, result);
  return result;
}

/// Zeros of x's shape and type.
inline tensor::Tensor zeros_like(autograd::Context& context, const tensor::Tensor& x) {
  const tensor::Tensor zeros = context.empty(x.shape(), x.dtype());
  context.launch(kernels::Fill{.x = zeros.view(), .value = 0});
  return zeros;
}

}  // namespace mpitron::ops
