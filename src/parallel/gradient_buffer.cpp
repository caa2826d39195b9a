#include "parallel/gradient_buffer.h"

#include "kernels/elementwise.h"

namespace mpitron::parallel {
namespace {

Index padded(Index numel) {
  return (numel + GradientBuffer::kAlignment - 1) / GradientBuffer::kAlignment *
         GradientBuffer::kAlignment;
}

void fill_zero(device::Device& device, const tensor::Tensor& x) {
  device::launch(device.stream(), kernels::Fill{.x = x.view(), .value = 0});
}

}  // namespace

GradientBuffer::GradientBuffer(device::Device& device, ParameterList& parameters,
                               const GradientPolicy& policy)
    : device_(device), parameters_(parameters) {
  Index total = 0;
  for (const Parameter& parameter : parameters) {
    total += padded(parameter.value.numel());
  }
  flat_ = tensor::Tensor::empty(device, {total}, policy.main_grad_dtype);
  fill_zero(device, flat_);
  Index offset = 0;
  for (Parameter& parameter : parameters) {
    const Index numel = parameter.value.numel();
    parameter.main_grad = flat_.slice(0, offset, offset + numel).reshape(parameter.value.shape());
    const bool fused = parameter.linear_weight && policy.fused_linear_gradients;
    parameter.round_gradient = policy.round_gradients && !fused;
    offset += padded(numel);
  }
}

void GradientBuffer::begin_step() {
  for (Parameter& parameter : parameters_) {
    parameter.gradient_written = false;
  }
}

void GradientBuffer::finish_step() {
  for (Parameter& parameter : parameters_) {
    if (!parameter.gradient_written) {
      fill_zero(device_, parameter.main_grad);
    }
  }
}

}  // namespace mpitron::parallel
