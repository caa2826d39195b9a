#pragma once
#include <span>
#include <vector>

#include "tensor/state.h"
#include "tensor/tensor.h"

namespace mpitron::tensor {

// Between the host's memory and a device's. Where tensors lie in the host's memory nothing is
// copied: the tensor that comes back shares the memory of the one given.

/// Makes a tensor for the host to fill and `to_device` to take; uninitialised, contiguous.
Tensor empty_on_host(device::Device& device, const Shape& shape, DType dtype);

/// Returns the same values on the device, for what is queued from now on. `host`: of
/// `empty_on_host`, not to be changed afterwards; may be given up at once.
Tensor to_device(device::Device& device, const Tensor& host);

/// Does so without waiting for what is queued: for the next batch.
Tensor prefetch(device::Device& device, const Tensor& host);

/// The values of a contiguous tensor for the host to read, once all that was queued has ended.
Tensor to_host(device::Device& device, const Tensor& x);
std::vector<Tensor> to_host(device::Device& device, std::span<const Tensor> xs);

/// Bytes of `from` into `to`, of equal size and contiguous, in stream order; nothing where both are
/// the same memory.
void copy_bytes(device::Device& device, const ConstTensorView& from, const TensorView& to);

/// Copies of a device's tensors for those that read and write the host's memory alone: checkpoints.
/// Where tensors lie in the host's memory they are their own copies, and nothing happens here.
class HostMirror {
 public:
  explicit HostMirror(device::Device& device) : device_(&device) {}

  /// Returns the tensor in the host's memory; it has its values after the next `wait`, and its
  /// memory until this ends.
  ShardedTensor of(const ShardedTensor& tensor);
  void wait();
  /// Brings all values back to the device.
  void write_back();
  /// Whether later changes of the tensors leave the copies alone.
  bool independent() const { return !device_->tensors_on_host(); }

 private:
  struct Copy {
    TensorView original;
    Tensor host;
  };
  device::Device* device_;
  std::vector<Copy> copies_;
};

}  // namespace mpitron::tensor
