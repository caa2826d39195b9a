#pragma once
#include "autograd/context.h"

namespace mpitron::autograd {

/// What a node keeps of a value for its backward pass: the tensor, or the recipe of a value that
/// has one. An op that keeps tensors only is right too, it just saves no memory.
class Kept {
 public:
  explicit Kept(const Var& var) : recipe_(var.recipe), shape_(var.shape()) {
    if (recipe_ == nullptr) {
      value_ = var.value;
    }
  }

  const Shape& shape() const { return shape_; }
  /// The value; made again each time it is asked for.
  Tensor operator()(Context& context) const {
    if (recipe_ == nullptr) {
      return value_;
    }
    Context quiet = context;
    quiet.tape = nullptr;
    quiet.usage = nullptr;  // noted in the first pass
    return (*recipe_)(quiet);
  }

 private:
  Tensor value_;
  std::shared_ptr<const Recipe> recipe_;
  Shape shape_;
};

}  // namespace mpitron::autograd
