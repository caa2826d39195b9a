#pragma once
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
  const TensorView& view() const { return view_; }
  operator const TensorView&() const { return view_; }  // NOLINT: a tensor is a kernel argument
  operator ConstTensorView() const { return view_; }    // NOLINT: a tensor is a kernel argument
  const Shape& shape() const { return view_.shape; }
  DType dtype() const { return view_.dtype; }
  Index numel() const { return view_.numel(); }
  template <class T>
  T* data() const {
    return view_.as<T>();
  }

  /// No other handle shares the memory, so it may be overwritten.
  bool unique() const;
  /// The same memory under another shape, or cut along a dimension.
  Tensor reshape(const Shape& shape) const;
  Tensor slice(int dim, Index begin, Index end) const;

 private:
  struct Storage;
  void release() noexcept;

  Storage* storage_ = nullptr;
  TensorView view_;
};

}  // namespace mpitron::tensor
