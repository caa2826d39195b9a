// Moves tensors between host and device; where the device's memory is the host's they are handed on
// as they are.
#include "tensor/host_copy.h"

#include "device/copy.h"

namespace mpitron::tensor {
Tensor empty_on_host(device::Device& device, const Shape& shape, DType dtype) {
  return Tensor::empty(device.staging(), shape, dtype);
}

Tensor to_device(device::Device& device, const Tensor& host) {
  if (device.tensors_on_host()) {
    return host;
  }
  const Tensor x = Tensor::empty(device, host.shape(), host.dtype());
  copy_bytes(device, host, x);
  return x;
}

Tensor prefetch(device::Device& device, const Tensor& host) {
  if (device.tensors_on_host()) {
    return host;
  }
  const Tensor x = Tensor::empty(device.arrivals(), host.shape(), host.dtype());
  device::upload_bytes(device.stream(), x.view().data, host.view().data, host.view().bytes());
  return x;
}

std::vector<Tensor> to_host(device::Device& device, std::span<const Tensor> xs) {
  std::vector<Tensor> hosts(xs.begin(), xs.end());
  if (device.tensors_on_host()) {
    return hosts;
  }
  for (Tensor& x : hosts) {
    const Tensor host = empty_on_host(device, x.shape(), x.dtype());
    copy_bytes(device, x, host);
    x = host;
  }
  device::synchronize(device.stream());
  return hosts;
}

Tensor to_host(device::Device& device, const Tensor& x) {
  return device.tensors_on_host() ? x : to_host(device, {&x, 1}).front();
}

void copy_bytes(device::Device& device, const ConstTensorView& from, const TensorView& to) {
  MPITRON_CHECK(from.contiguous() && to.contiguous() && from.bytes() == to.bytes(),
                to_string(from.shape), to_string(to.shape));
  if (from.data != to.data) {
    device::copy_bytes(device.stream(), to.data, from.data, to.bytes());
  }
}

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
