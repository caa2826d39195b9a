// Counts references to blocks of device memory. The count is in front of the elements where the
// host may write there, else in a small block of its own.
#include "tensor/tensor.h"

#include <new>

#include "tensor/tensors_made.h"

namespace mpitron::tensor {

Tensor Tensor::empty(device::Allocator& allocator, const Shape& shape, DType dtype) {
  const std::size_t bytes = static_cast<std::size_t>(shape.numel()) * size_of(dtype);
  std::size_t capacity = 0, notes_capacity = 0;
  Tensor tensor;
  if (device::Allocator* const notes = allocator.notes()) {
    void* elements = allocator.allocate(bytes, capacity);
    tensor.storage_ = new (notes->allocate(sizeof(Storage), notes_capacity))
        Storage{&allocator, capacity, 1, elements, notes_capacity};
    tensor.view_ = TensorView(elements, dtype, shape);
    TensorsMade::note(*tensor.storage_);
  } else {
    void* block = allocator.allocate(sizeof(Storage) + bytes, capacity);
    tensor.storage_ = new (block) Storage{&allocator, capacity, 1, nullptr, 0};
    tensor.view_ = TensorView(static_cast<char*>(block) + sizeof(Storage), dtype, shape);
  }
  return tensor;
}

Tensor Tensor::empty(device::Device& device, const Shape& shape, DType dtype) {
  return empty(device.allocator(), shape, dtype);
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
    device::Allocator& allocator = *storage_->allocator;
    if (storage_->notes_capacity > 0) {
      TensorsMade::forget(*storage_);
      if (storage_->elements != nullptr) {
        allocator.release(storage_->elements, storage_->capacity);
      }
      allocator.notes()->release(storage_, storage_->notes_capacity);
    } else {
      allocator.release(storage_, storage_->capacity);
    }
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
