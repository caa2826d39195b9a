#pragma once
#include <unordered_map>

#include "autograd/parameter.h"
#include "device/device.h"

namespace mpitron::autograd {

/// Weights as generation reads them: each packed when a product first uses it. The parameters must
/// live longer and keep their values.
class PackedWeights {
 public:
  /// `type`: of the packed values, fp32, bf16 or fp16.
  PackedWeights(device::Device& device, DType type) : device_(device), type_(type) {}

  const Tensor& of(const Parameter& weight);
  /// Of all that are packed so far.
  Index bytes() const { return bytes_; }

 private:
  device::Device& device_;
  DType type_;
  Index bytes_ = 0;
  std::unordered_map<const Parameter*, Tensor> packed_;
};

}  // namespace mpitron::autograd
