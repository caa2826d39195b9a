#pragma once
#include "tensor/tensor.h"

namespace mpitron::tensor {

/// The block of device memory in which a tensor lies, for whoever takes its elements elsewhere for
/// a while. All handles of the tensor know where it is when they are asked for their view, and fail
/// where it is away. Keeps the tensor.
class MovableMemory {
 public:
  /// `tensor`: of an allocator whose memory the host does not touch (Allocator::notes).
  explicit MovableMemory(const Tensor& tensor);

  bool holds(const Tensor& tensor) const { return tensor.storage_ == tensor_.storage_; }
  Index bytes() const { return static_cast<Index>(tensor_.storage_->capacity); }
  /// Returns the elements of the whole block; null while it is away.
  void* elements() const { return tensor_.storage_->elements; }
  /// Gives the block back to the device's allocator.
  void leave();
  /// Takes another one, of which nothing is set.
  void come_back();

 private:
  Tensor tensor_;
  char* made_at_;
};

}  // namespace mpitron::tensor
