#pragma once
#include <atomic>
#include <cstddef>
#include <limits>
#include <utility>

#include "device/device.h"

namespace mpitron::tensor {

using device::ConstTensorView;
using device::TensorView;

/// A handle to device memory: copies share it, the last one gives it back to the device's
/// allocator. The reference count lies in front of the elements where the host can write there, so
/// that a tensor costs one block and nothing else.
class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised, contiguous.
  static Tensor empty(device::Device& device, const Shape& shape, DType dtype);
  static Tensor empty(device::Allocator& allocator, const Shape& shape, DType dtype);
  ~Tensor() { release(); }
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept
      : storage_(std::exchange(other.storage_, nullptr)), view_(other.view_) {}
  Tensor& operator=(Tensor other) noexcept;

  explicit operator bool() const { return storage_ != nullptr; }
  /// Returns where the elements are now.
  TensorView view() const;
  operator TensorView() const { return view(); }       // NOLINT: a tensor is a kernel argument
  operator ConstTensorView() const { return view(); }  // NOLINT: a tensor is a kernel argument
  const Shape& shape() const { return view_.shape; }
  DType dtype() const { return view_.dtype; }
  Index numel() const { return view_.numel(); }
  template <class T>
  T* data() const {
    return view().as<T>();
  }

  /// No other handle shares the memory, so it may be overwritten.
  bool unique() const;
  /// Return the same memory under another shape, or cut along a dimension.
  Tensor reshape(const Shape& shape) const;
  Tensor slice(int dim, Index begin, Index end) const;

 private:
  friend class TensorsMade;
  friend class MovableMemory;

  // One cache line in front of the elements, which stay aligned to 64 bytes; where the host cannot
  // write there, in a block of its own.
  struct alignas(64) Storage {
    device::Allocator* allocator;
    std::size_t capacity;
    std::atomic<Index> handles;
    void* elements;              // null where they lie behind, or are away
    std::size_t notes_capacity;  // of the block of its own; 0: there is none
    std::ptrdiff_t moved = 0;    // bytes from where all handles think the elements are
    Storage **before = nullptr, *next = nullptr;  // of a list of TensorsMade
  };
  static constexpr std::ptrdiff_t kAway = std::numeric_limits<std::ptrdiff_t>::max();
  void release() noexcept;

  Storage* storage_ = nullptr;
  TensorView view_;  // where the elements were made
};

inline TensorView Tensor::view() const {
  TensorView now = view_;
  if (storage_ != nullptr && storage_->moved != 0) {
    MPITRON_CHECK(storage_->moved != kAway, to_string(view_.shape));
    now.data = static_cast<char*>(now.data) + storage_->moved;
  }
  return now;
}

}  // namespace mpitron::tensor
