#pragma once
#include "kernels/elementwise/stored_numbers.h"
#include "tensor/tensor.h"

namespace mpitron::optim {

/// A tensor of the optimizer's state: fp32 numbers, flat, in a device's memory and in a type that
/// may be narrower (kernels/elementwise/stored_numbers.h).
class StoredState {
 public:
  StoredState() = default;
  /// fp32 or bf16 numbers of others, whose memory it shares.
  explicit StoredState(tensor::Tensor numbers) : values_(std::move(numbers)) {}
  /// n zeros; `dtype` fp32, bf16, fp16 or u8 (e4m3). `keeps_nonzero`: nothing else becomes zero.
  static StoredState zeros(device::Device& device, Index n, DType dtype,
                           bool keeps_nonzero = false);
  /// fp32 numbers of which `upper`, a flat bf16 tensor, is the upper half; not yet set.
  static StoredState below(device::Device& device, tensor::Tensor upper);

  explicit operator bool() const { return static_cast<bool>(values_); }
  /// The numbers stand in `values` as they are, fp32 or bf16.
  bool plain() const { return !exponents_ && !upper_; }
  bool has_upper() const { return static_cast<bool>(upper_); }
  const tensor::Tensor& values() const { return values_; }
  kernels::StoredNumbers view() const;
  /// Counts the bytes of memory that is not a parameter's.
  Index bytes() const;

  /// All numbers to or from an fp32 tensor of the same device.
  void read(device::Device& device, const tensor::Tensor& numbers) const;
  void write(device::Device& device, const tensor::Tensor& numbers) const;

 private:
  tensor::Tensor values_, exponents_, upper_;
  bool keeps_nonzero_ = false;
};

}  // namespace mpitron::optim
