#include "parallel/flat_memory.h"

#include "kernels/elementwise/elementwise.h"

namespace mpitron::parallel {

void fill_zero(device::Device& device, const Tensor& x) {
  device::launch(device.stream(), kernels::Fill{.x = x.view(), .value = 0});
}

void copy(device::Device& device, const Tensor& x, const Tensor& y) {
  device::launch(device.stream(), kernels::Cast{.x = x.view(), .y = y.view()});
}

Tensor zeros(device::Device& device, Index numel, DType dtype) {
  const Tensor x = Tensor::empty(device, {numel}, dtype);
  fill_zero(device, x);
  return x;
}

Tensor zeros_to_send(device::Device& device, Index numel, DType dtype) {
  const Tensor x = Tensor::empty(device.buffers(), {numel}, dtype);
  fill_zero(device, x);
  return x;
}

Tensor flat(const Tensor& x) {
  return x.reshape({x.numel()});
}

Index distance(const Tensor& from, const Tensor& to) {
  return (static_cast<const char*>(to.view().data) - static_cast<const char*>(from.view().data)) /
         static_cast<Index>(size_of(to.dtype()));
}

void move_values(device::Device& device, std::span<Parameter* const> parameters,
                 const BucketLayout& layout, const Tensor& memory) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Tensor& value = parameters[i]->value;
    const Index offset = layout.offsets[i];
    const Tensor place = memory.slice(0, offset, offset + value.numel());
    copy(device, flat(value), place);
    value = place.reshape(value.shape());
  }
}

}  // namespace mpitron::parallel
