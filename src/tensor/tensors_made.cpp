// Notes tensors that are made in a scope, by a list that the tensors themselves are links of, so
// that nothing is allocated for it.
#include "tensor/tensors_made.h"

namespace mpitron::tensor {

thread_local TensorsMade* TensorsMade::current_ = nullptr;

TensorsMade::TensorsMade(device::Allocator& allocator)
    : outer_(std::exchange(current_, this)), allocator_(allocator) {}

TensorsMade::~TensorsMade() {
  while (first_ != nullptr) {
    forget(*first_);
  }
  current_ = outer_;
}

std::vector<Tensor> TensorsMade::alive() const {
  std::vector<Tensor> tensors;
  for (Tensor::Storage* storage = first_; storage != nullptr; storage = storage->next) {
    Tensor& whole = tensors.emplace_back();
    whole.storage_ = storage;
    whole.view_ = TensorView(storage->elements, DType::u8, {static_cast<Index>(storage->capacity)});
    storage->handles.fetch_add(1, std::memory_order_relaxed);
  }
  return tensors;
}

void TensorsMade::note(Tensor::Storage& storage) {
  if (current_ == nullptr || storage.allocator != &current_->allocator_) {
    return;
  }
  storage.next = current_->first_;
  storage.before = &current_->first_;
  if (storage.next != nullptr) {
    storage.next->before = &storage.next;
  }
  current_->first_ = &storage;
}

void TensorsMade::forget(Tensor::Storage& storage) noexcept {
  if (storage.before == nullptr) {
    return;
  }
  *storage.before = storage.next;
  if (storage.next != nullptr) {
    storage.next->before = storage.before;
  }
  storage.before = nullptr;
}

}  // namespace mpitron::tensor
