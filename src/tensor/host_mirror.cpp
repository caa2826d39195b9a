#include "tensor/host_mirror.h"

#include "device/copy.h"

namespace mpitron::tensor {

ShardedTensor HostMirror::of(const ShardedTensor& tensor) {
  if (!independent()) {
    return tensor;
  }
  const TensorView& original = tensor.value;
  const Tensor host = empty_on_host(*device_, original.shape, original.dtype);
  copy_bytes(*device_, original, host);
  copies_.push_back({original, host});
  ShardedTensor copy = tensor;
  copy.value = host.view();
  return copy;
}

void HostMirror::wait() {
  device::synchronize(device_->stream());
}

void HostMirror::write_back() {
  for (const Copy& copy : copies_) {
    copy_bytes(*device_, copy.host, copy.original);
  }
}

}  // namespace mpitron::tensor
