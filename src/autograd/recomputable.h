#pragma once
#include <functional>
#include <memory>

#include "autograd/context.h"

namespace mpitron::autograd {

/// A value, and where keeping it is dearer than making it again, how to do that: bit for bit, in
/// the backward pass. Ops that take one keep no value that has a recipe.
struct Recomputable {
  using Recipe = std::function<Tensor(Context&)>;

  Recomputable(Var value) : var(std::move(value)) {}  // NOLINT: every value is one without a recipe
  Recomputable(Var value, Recipe how)
      : var(std::move(value)), recipe(std::make_shared<const Recipe>(std::move(how))) {}

  Var var;
  std::shared_ptr<const Recipe> recipe;  // null: the value itself is kept
};

/// Value that a node keeps, or its recipe.
class SavedValue {
 public:
  explicit SavedValue(const Recomputable& x) : recipe_(x.recipe), shape_(x.var.shape()) {
    if (recipe_ == nullptr) {
      value_ = x.var.value;
    }
  }

  const Shape& shape() const { return shape_; }
  /// The value; made again each time it is asked for.
  Tensor operator()(Context& context) const {
    if (recipe_ == nullptr) {
      return value_;
    }
    Context quiet = context;
    quiet.recorder.tape = nullptr;
    quiet.recorder.usage = nullptr;  // noted in the first pass
    return (*recipe_)(quiet);
  }

 private:
  Tensor value_;
  std::shared_ptr<const Recomputable::Recipe> recipe_;
  Shape shape_;
};

}  // namespace mpitron::autograd
