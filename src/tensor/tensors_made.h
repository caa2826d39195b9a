#pragma once
#include <vector>

#include "tensor/tensor.h"

namespace mpitron::tensor {

/// Knows the tensors of an allocator of device memory (Allocator::notes) that this thread makes
/// while this lives, without keeping them. One may live inside another and hides it meanwhile.
class TensorsMade {
 public:
  explicit TensorsMade(device::Allocator& allocator);
  ~TensorsMade();
  TensorsMade(const TensorsMade&) = delete;
  TensorsMade& operator=(const TensorsMade&) = delete;

  /// Lists the tensors that somebody still has, the newest first; each whole, as bytes.
  std::vector<Tensor> alive() const;

 private:
  friend class Tensor;
  static void note(Tensor::Storage& storage);
  static void forget(Tensor::Storage& storage) noexcept;

  static thread_local TensorsMade* current_;
  TensorsMade* const outer_;
  device::Allocator& allocator_;
  Tensor::Storage* first_ = nullptr;
};

}  // namespace mpitron::tensor
