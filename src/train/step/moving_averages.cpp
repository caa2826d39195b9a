// Moves averages after each update: average = momentum average + (1 - momentum) value, in fp32.
#include "train/step/moving_averages.h"

#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"

namespace mpitron::train {

using tensor::Tensor;

namespace {

/// Copies numbers between tensors of the same shape, in whatever types.
void copy_numbers(device::Device& device, const Tensor& from, const Tensor& to) {
  device::launch(device.stream(), kernels::Cast{.x = from.view(), .y = to.view()});
}

}  // namespace

/// Pairs each average with the parameter that it follows; averages in other types than fp32 get
/// fp32 masters. Each begins as what it follows.
MovingAverages::MovingAverages(device::Device& device, autograd::ParameterList& parameters)
    : device_(device) {
  for (autograd::Parameter& parameter : parameters) {
    if (parameter.role.average_of == nullptr) {
      continue;
    }
    Average& average = averages_.emplace_back(Average{&parameter, {}});
    copy_numbers(device, parameter.role.average_of->value, parameter.value);
    if (parameter.value.dtype() != DType::f32) {
      average.master = Tensor::empty(device, parameter.value.shape(), DType::f32);
      copy_numbers(device, parameter.value, average.master);
    }
  }
}

void MovingAverages::update(double momentum) {
  for (const auto& [parameter, master] : averages_) {
    const Tensor& average = master ? master : parameter->value;
    device::launch(device_.stream(),
                   kernels::MovingAverage{.average = average.view(),
                                          .x = parameter->role.average_of->value.view(),
                                          .momentum = static_cast<float>(momentum)});
    if (master) {
      copy_numbers(device_, master, parameter->value);
    }
  }
}

void MovingAverages::visit_masters(tensor::StateVisitor& visitor) const {
  for (const auto& [parameter, master] : averages_) {
    if (master) {
      visitor.tensor({.name = "optimizer/fp32_param/" + parameter->name,
                      .shape = parameter->shape,
                      .shard = parameter->placement.shard,
                      .value = master.reshape({master.numel()}).view()});
    }
  }
}

void MovingAverages::state_loaded(bool masters_too) {
  for (const auto& [parameter, master] : averages_) {
    if (master && masters_too) {
      copy_numbers(device_, master, parameter->value);
    } else if (master) {
      copy_numbers(device_, parameter->value, master);
    }
  }
}

}  // namespace mpitron::train
