#include "tensor/tensor.h"

#include <atomic>
#include <new>

namespace mpitron::tensor {

// One cache line in front of the elements, which stay aligned to 64 bytes.
struct alignas(64) Tensor::Storage {
  device::Allocator* allocator;
  std::size_t capacity;
  std::atomic<Index> handles;
};

Tensor Tensor::empty(device::Device& device, const Shape& shape, DType dtype) {
  const std::size_t bytes = static_cast<std::size_t>(shape.numel()) * size_of(dtype);
  std::size_t capacity = 0;
  void* block = device.allocator().allocate(sizeof(Storage) + bytes, capacity);
  Tensor tensor;
  tensor.storage_ = new (block) Storage{&device.allocator(), capacity, 1};
  tensor.view_ = TensorView(static_cast<char*>(block) + sizeof(Storage), dtype, shape);
  return tensor;
}

Tensor::Tensor(const Tensor& other) : storage_(other.storage_), view_(other.view_) {
  if (storage_ != nullptr) {
    storage_->handles.fetch_add(1, std::memory_order_relaxed);
  }
}

Tensor& Tensor::operator=(Tensor other) noexcept {
  std::swap(storage_, other.storage_);
  std::swap(view_, other.view_);
  return *this;
}

void Tensor::release() noexcept {
  if (storage_ != nullptr && storage_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    storage_->allocator->release(storage_, storage_->capacity);
  }
  storage_ = nullptr;
}

bool Tensor::unique() const {
  return storage_ != nullptr && storage_->handles.load(std::memory_order_acquire) == 1;
}

Tensor Tensor::reshape(const Shape& shape) const {
  Tensor other = *this;
  other.view_ = device::reshape(view_, shape);
  return other;
}

Tensor Tensor::slice(int dim, Index begin, Index end) const {
  Tensor other = *this;
  other.view_ = device::slice(view_, dim, begin, end);
  return other;
}

}  // namespace mpitron::tensor
