#pragma once
#include <vector>

#include "tensor/host_copy.h"
#include "tensor/state.h"

namespace mpitron::tensor {

/// Copies of a device's tensors for those that read and write the host's memory alone: checkpoints.
/// Where tensors lie in the host's memory they are their own copies, and nothing happens here.
class HostMirror {
 public:
  explicit HostMirror(device::Device& device) : device_(&device) {}

  /// The same tensor in the host's memory; it has its values after the next `wait`, and its memory
  /// until this ends.
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
