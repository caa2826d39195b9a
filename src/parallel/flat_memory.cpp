// Allocates and copies tensors that lie one behind the other, and sums small ones in one message.
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

/// One message for all tensors: they are copied side by side, summed and copied back.
void sum_together(device::Device& device, comm::Group& group, std::span<const Tensor> tensors) {
  if (group.size() == 1 || tensors.empty()) {
    return;
  }
  if (tensors.size() == 1) {
    group.all_reduce(tensors.front().view()).wait();
    return;
  }
  Index numel = 0;
  for (const Tensor& x : tensors) {
    numel += x.numel();
  }
  const Tensor together = Tensor::empty(device, {numel}, tensors.front().dtype());
  const auto for_each_place = [&](auto&& visit) {
    Index begin = 0;
    for (const Tensor& x : tensors) {
      visit(flat(x), together.slice(0, begin, begin + x.numel()));
      begin += x.numel();
    }
  };
  for_each_place([&](const Tensor& x, const Tensor& place) { copy(device, x, place); });
  group.all_reduce(together.view()).wait();
  for_each_place([&](const Tensor& x, const Tensor& place) { copy(device, place, x); });
}

}  // namespace mpitron::parallel
