#include "ops/initialize.h"

#include <cmath>

#include "kernels/elementwise.h"
#include "utils/hash.h"

namespace mpitron::ops {
namespace {

using autograd::Initialization;
using autograd::Parameter;
using tensor::Tensor;

double std_of(const Parameter& parameter) {
  if (parameter.initialization.kind != Initialization::Kind::xavier_uniform) {
    return parameter.initialization.std;
  }
  // Glorot and Bengio 2010: the variance of U(-a, a) with a = sqrt(6 / (fan_in + fan_out)).
  return std::sqrt(2.0 / static_cast<double>(parameter.shape[0] + parameter.shape[-1]));
}

/// True where the values are drawn; otherwise they are written.
bool is_random(device::Device& device, const Parameter& parameter) {
  const Initialization::Kind kind = parameter.initialization.kind;
  if (kind == Initialization::Kind::normal || kind == Initialization::Kind::xavier_uniform) {
    return true;
  }
  const float value = kind == Initialization::Kind::ones ? 1.f : 0.f;
  device::launch(device.stream(), kernels::Fill{.x = parameter.value.view(), .value = value});
  return false;
}

/// fp32 memory to draw into: the parameter's own where its type is fp32.
Tensor drawing_buffer(device::Device& device, const Parameter& parameter) {
  return parameter.value.dtype() == DType::f32 ? parameter.value
                                               : Tensor::empty(device, parameter.shape, DType::f32);
}

void store(device::Device& device, const Tensor& drawn, const Parameter& parameter) {
  if (parameter.value.dtype() != DType::f32) {
    device::launch(device.stream(), kernels::Cast{.x = drawn.view(), .y = parameter.value.view()});
  }
}

}  // namespace

void initialize(device::Device& device, Parameter& parameter, DType dtype, std::uint64_t seed) {
  parameter.value = Tensor::empty(device, parameter.shape, dtype);
  if (!is_random(device, parameter)) {
    return;
  }
  const std::uint64_t key = hash64(parameter.name, seed);
  const Tensor drawn = drawing_buffer(device, parameter);
  device::launch(device.stream(),
                 kernels::NormalInit{.x = drawn.view(),
                                     .key = {static_cast<std::uint32_t>(key),
                                             static_cast<std::uint32_t>(key >> 32)},
                                     .std = static_cast<float>(std_of(parameter))});
  store(device, drawn, parameter);
}

void initialize_like_torch(device::Device& device, Parameter& parameter, DType dtype,
                           TorchGenerator& generator) {
  parameter.value = Tensor::empty(device, parameter.shape, dtype);
  if (!is_random(device, parameter)) {
    return;
  }
  const Tensor drawn = drawing_buffer(device, parameter);
  generator.normal({drawn.data<float>(), static_cast<std::size_t>(drawn.numel())}, 0,
                   static_cast<float>(std_of(parameter)));
  store(device, drawn, parameter);
}

}  // namespace mpitron::ops
