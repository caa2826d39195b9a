#include "parallel/tensor_gradients.h"

#include "kernels/elementwise.h"

namespace mpitron::parallel {
namespace {

using tensor::Tensor;

/// Calls visit(main_grad, its place in the flat buffer) for every gradient to be summed.
template <class Visit>
Index for_each_part(autograd::ParameterList& parameters, Visit&& visit) {
  Index offset = 0;
  for (const autograd::Parameter& parameter : parameters) {
    if (parameter.sum_over_tensor) {
      visit(parameter.main_grad, offset);
      offset += parameter.main_grad.numel();
    }
  }
  return offset;
}

Tensor flat_part(const Tensor& flat, const Tensor& gradient, Index offset) {
  return flat.slice(0, offset, offset + gradient.numel()).reshape(gradient.shape());
}

}  // namespace

void sum_tensor_gradients(device::Device& device, autograd::ParameterList& parameters,
                          comm::Group& tensor) {
  DType dtype = DType::f32;
  const Index total =
      for_each_part(parameters, [&](const Tensor& gradient, Index) { dtype = gradient.dtype(); });
  if (tensor.size() == 1 || total == 0) {
    return;
  }
  const Tensor flat = Tensor::empty(device, {total}, dtype);
  for_each_part(parameters, [&](const Tensor& gradient, Index offset) {
    device::launch(device.stream(), kernels::Cast{.x = gradient.view(),
                                                  .y = flat_part(flat, gradient, offset).view()});
  });
  tensor.all_reduce(flat.view()).wait();
  for_each_part(parameters, [&](const Tensor& gradient, Index offset) {
    device::launch(device.stream(), kernels::Cast{.x = flat_part(flat, gradient, offset).view(),
                                                  .y = gradient.view()});
  });
}

}  // namespace mpitron::parallel
