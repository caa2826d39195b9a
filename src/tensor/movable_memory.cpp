// Lets a tensor's block leave the device and come back elsewhere, while handles to it live.
#include "tensor/movable_memory.h"

namespace mpitron::tensor {

MovableMemory::MovableMemory(const Tensor& tensor) : tensor_(tensor) {
  MPITRON_CHECK(tensor.storage_->notes_capacity > 0 && tensor.storage_->elements != nullptr,
                to_string(tensor.shape()));
  made_at_ = static_cast<char*>(elements()) - tensor.storage_->moved;
}

void MovableMemory::leave() {
  Tensor::Storage& storage = *tensor_.storage_;
  storage.allocator->release(std::exchange(storage.elements, nullptr), storage.capacity);
  storage.moved = Tensor::kAway;
}

void MovableMemory::come_back() {
  Tensor::Storage& storage = *tensor_.storage_;
  const std::size_t bytes = storage.capacity;
  storage.elements = storage.allocator->allocate(bytes, storage.capacity);
  storage.moved = static_cast<char*>(storage.elements) - made_at_;
}

}  // namespace mpitron::tensor
