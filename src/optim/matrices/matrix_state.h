#pragma once
#include <vector>

#include "tensor/tensor.h"

namespace mpitron::optim {

/// Numbers that a rule keeps of a whole matrix, "optimizer/KIND/NAME" in checkpoints: on the rank
/// that works on the matrix, which another layout may give to another one.
struct MatrixPart {
  const char* kind;
  tensor::Tensor numbers;
};
using MatrixState = std::vector<MatrixPart>;

}  // namespace mpitron::optim
