#pragma once
#include <utility>

#include "tensor/tensor.h"

namespace mpitron::autograd {

using tensor::Tensor;

/// Slot in which the gradient of one value gathers. Slots know no nodes, so there is no reference
/// cycle; they come from a pool, so a steady step allocates none. Used by one thread.
class Slot {
 public:
  Slot() = default;
  static Slot make();
  ~Slot() { release(); }
  Slot(const Slot& other) : cell_(other.cell_) {
    if (cell_ != nullptr) {
      ++cell_->handles;
    }
  }
  Slot(Slot&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  Slot& operator=(Slot other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }

  /// False where no gradient is wanted (tokens, frozen inputs).
  explicit operator bool() const { return cell_ != nullptr; }
  Tensor& gradient() const { return cell_->gradient; }

 private:
  struct Cell {
    Tensor gradient;
    int handles = 1;
    Cell* next_free = nullptr;
  };
  class Pool;
  void release() noexcept;

  Cell* cell_ = nullptr;
};

/// A value of the forward pass and the slot of its gradient. Nodes keep slots and the tensors they
/// need, never a Var, so an activation lives exactly as long as some op saved it.
struct Var {
  Tensor value;
  Slot slot;

  const Shape& shape() const { return value.shape(); }
};

/// A value that wants a gradient, and one that does not.
inline Var variable(Tensor value) {
  return {std::move(value), Slot::make()};
}
inline Var constant(Tensor value) {
  return {std::move(value), {}};
}

}  // namespace mpitron::autograd
