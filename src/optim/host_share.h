#pragma once
#include <vector>

#include "config/optimizer_config.h"
#include "tensor/tensor.h"

namespace mpitron::optim {

/// Chooses the tensors that the processor updates (`--optimizer-offload-fraction`): in order, each
/// that fits into the share of all elements.
std::vector<bool> tensors_on_processor(const std::vector<Index>& sizes, double fraction);

/// Memory of the host where a device's tensors are updated by the processor, page-locked unless the
/// options say otherwise, with the copies to it and back.
class HostShare {
 public:
  /// `device`: one with memory of its own; outlives this.
  HostShare(device::Device& device, const config::OffloadConfig& config);
  /// Waits for copies that are still queued: their memory goes.
  ~HostShare();
  HostShare(const HostShare&) = delete;
  HostShare& operator=(const HostShare&) = delete;

  /// Returns the device in whose memory the state lies, and whose kernels update it.
  device::Device& home() const { return *home_; }

  /// Queues a copy of a flat tensor of the device; to be read after `wait`.
  tensor::Tensor fetch(const tensor::Tensor& x);
  /// Queues a copy into a tensor of the device; `x` of `home`, left alone until the next `wait`.
  void send(const tensor::Tensor& x, const tensor::Tensor& to);
  /// Waits until all that is queued on the device has ended.
  void wait();

 private:
  device::Device& device_;
  std::unique_ptr<device::Device> home_;
  std::unique_ptr<device::Allocator> pageable_;
  device::Allocator& arrivals_;
};

}  // namespace mpitron::optim
