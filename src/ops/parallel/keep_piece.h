#pragma once
#include "autograd/context.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

/// Keeps, for autograd::recompute, a piece of an input that every rank of the group has; the pieces
/// are joined again for the backward pass (`--distribute-saved-activations`).
struct KeepPiece {
  TensorParallel shared;

  struct Kept {
    tensor::Tensor piece;  // [n / ranks]
    Shape shape;
    comm::Group* group;

    tensor::Tensor operator()(autograd::Context& context) const;
  };
  Kept operator()(autograd::Context& context, const tensor::Tensor& input) const;
};

}  // namespace mpitron::ops
