#pragma once
#include "tensor/tensor.h"

namespace mpitron::ops {

/// Leading dimensions folded into rows: [..., h] -> [t, h].
inline tensor::Tensor fold_rows(const tensor::Tensor& x) {
  return x.reshape({x.numel() / x.shape()[-1], x.shape()[-1]});
}

}  // namespace mpitron::ops
