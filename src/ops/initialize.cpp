#include "ops/initialize.h"

#include <cmath>
#include <span>

#include "kernels/elementwise.h"
#include "utils/hash.h"
#include "utils/philox.h"

namespace mpitron::ops {
namespace {

using autograd::Initialization;
using autograd::Parameter;
using tensor::Tensor;

/// Glorot and Bengio 2010: U(-a, a).
float xavier_bound(const Parameter& parameter) {
  const auto fans = static_cast<float>(parameter.shape[0] + parameter.shape[-1]);
  return std::sqrt(6.f / fans);
}

bool is_uniform(const Parameter& parameter) {
  return parameter.initialization.kind == Initialization::Kind::xavier_uniform;
}

std::span<float> values_of(const Tensor& drawn) {
  return {drawn.data<float>(), static_cast<std::size_t>(drawn.numel())};
}

/// Element i takes word i % 4 of counter i / 4.
void draw_uniform(std::span<float> values, Philox::Key key, float bound) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t counter = i / 4;
    const auto bits = Philox::generate(
        {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
        key);
    values[i] = bound * (2 * (static_cast<float>(bits[i % 4] >> 8) + 0.5f) * 0x1p-24f - 1);
  }
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
  const std::uint64_t hash = hash64(parameter.name, seed);
  const Philox::Key key{static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)};
  const Tensor drawn = drawing_buffer(device, parameter);
  if (is_uniform(parameter)) {
    draw_uniform(values_of(drawn), key, xavier_bound(parameter));
  } else {
    device::launch(device.stream(),
                   kernels::NormalInit{.x = drawn.view(),
                                       .key = key,
                                       .std = static_cast<float>(parameter.initialization.std)});
  }
  store(device, drawn, parameter);
}

void initialize_like_torch(device::Device& device, Parameter& parameter, DType dtype,
                           TorchGenerator& generator) {
  parameter.value = Tensor::empty(device, parameter.shape, dtype);
  if (!is_random(device, parameter)) {
    return;
  }
  const Tensor drawn = drawing_buffer(device, parameter);
  if (is_uniform(parameter)) {
    const float bound = xavier_bound(parameter);
    generator.uniform(values_of(drawn), -bound, bound);
  } else {
    generator.normal(values_of(drawn), 0, static_cast<float>(parameter.initialization.std));
  }
  store(device, drawn, parameter);
}

}  // namespace mpitron::ops
