// Gives parameters their first values: normal and uniform numbers by global index (Philox),
// constants, and steps of Mamba. A shard draws its part of the whole's numbers, so layouts begin
// alike.
#include "ops/elementwise/initialize.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "autograd/shard_copy.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"
#include "utils/numbers/philox.h"
#include "utils/text/hash.h"

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
  return parameter.initialization.kind != Initialization::Kind::normal;
}

/// Returns the bound of the uniform numbers that are drawn.
float bound_of(const Parameter& parameter) {
  switch (parameter.initialization.kind) {
    case Initialization::Kind::xavier_uniform:
      return xavier_bound(parameter);
    case Initialization::Kind::uniform:
      return static_cast<float>(parameter.initialization.bound);
    default:
      return 1;
  }
}

/// Maps a number of U(-1, 1) to a bias whose softplus is the step that Mamba starts with.
double inverse_step(double drawn) {
  constexpr double kLeast = 0.001, kMost = 0.1, kFloor = 1e-4;
  const double share = (drawn + 1) / 2;
  const double step =
      std::max(kFloor, std::exp(share * (std::log(kMost) - std::log(kLeast)) + std::log(kLeast)));
  return step + std::log(-std::expm1(-step));
}

/// Turns uniform numbers into what the kind of parameter wants.
void transform_drawn(const Parameter& parameter, std::span<float> values) {
  const Initialization::Kind kind = parameter.initialization.kind;
  for (float& value : values) {
    const auto drawn = static_cast<double>(value);
    if (kind == Initialization::Kind::log_of_rate) {
      value = static_cast<float>(std::log(1 + 15 * (drawn + 1) / 2));
    } else if (kind == Initialization::Kind::inverse_steps) {
      value = static_cast<float>(inverse_step(drawn));
    }
  }
}

std::span<float> values_of(const Tensor& drawn) {
  return {drawn.data<float>(), static_cast<std::size_t>(drawn.numel())};
}

/// A part of the drawn local tensor, as rows of neighbours in the global one: row r's first element
/// has the global index `first + r * pitch`.
struct Part {
  device::TensorView rows;  // [rows, n]
  Index first = 0, pitch = 0;
};

template <class Visit>
void for_each_part(const Parameter& parameter, const Tensor& drawn, Visit&& visit) {
  const tensor::Shard& shard = parameter.placement.shard;
  Index outer = 1, inner = 1;
  for (int i = 0; i < parameter.shape.rank(); ++i) {
    (i < shard.dim ? outer : inner) *= parameter.shape[i];
  }
  const Index step = inner / parameter.shape[shard.dim];
  const Tensor local = drawn.reshape({outer, drawn.numel() / outer});
  Index at = 0;
  const auto visit_range = [&](Index begin, Index size) {
    visit(Part{device::slice(local.view(), 1, at, at + size), begin, inner});
    at += size;
  };
  if (shard.whole()) {
    visit_range(0, inner);
  }
  for (const tensor::Shard::Range& range : shard.ranges) {
    visit_range(range.begin * step, range.size() * step);
  }
}

/// Element i takes word i % 4 of counter i / 4.
float uniform_sample(Philox::Key key, Index index) {
  const auto counter = static_cast<std::uint64_t>(index) / 4;
  const auto bits = Philox::generate(
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}, key);
  const std::uint32_t word = bits[static_cast<std::size_t>(index % 4)];
  return 2 * (static_cast<float>(word >> 8) + 0.5f) * 0x1p-24f - 1;
}

void draw_uniform(const Part& part, Philox::Key key, float bound) {
  for (Index row = 0; row < part.rows.size(0); ++row) {
    float* values = part.rows.as<float>() + row * part.rows.stride(0);
    for (Index i = 0; i < part.rows.size(1); ++i) {
      values[i] = bound * uniform_sample(key, part.first + row * part.pitch + i);
    }
  }
}

/// True where the values are drawn; otherwise they are written.
bool is_random(device::Device& device, const Parameter& parameter) {
  const Initialization::Kind kind = parameter.initialization.kind;
  if (kind != Initialization::Kind::ones && kind != Initialization::Kind::zeros &&
      kind != Initialization::Kind::constant) {
    return true;
  }
  const float value =
      kind == Initialization::Kind::ones ? 1.f : static_cast<float>(parameter.initialization.value);
  device::launch(device.stream(), kernels::Fill{.x = parameter.value.view(), .value = value});
  return false;
}

/// fp32 memory of the host to draw into: the parameter's own where it can be.
Tensor drawing_buffer(device::Device& device, const Parameter& parameter, const Shape& shape) {
  const bool own = device.tensors_on_host() && parameter.value.dtype() == DType::f32 &&
                   parameter.value.shape() == shape;
  return own ? parameter.value : tensor::empty_on_host(device, shape, DType::f32);
}

/// This rank's shard of what was drawn, converted.
void store(device::Device& device, const Tensor& drawn, const tensor::Shard& shard,
           const Tensor& value) {
  if (drawn.view().data != value.view().data) {
    autograd::copy_to_shard(device, tensor::to_device(device, drawn), shard, value);
  }
}

/// Draws on the host, also for other devices, so that all begin with the same bits.
void draw_normal(device::Device& device, const kernels::NormalInit& kernel) {
  device::Stream host = device::HostStream{};
  device::launch(device.tensors_on_host() ? device.stream() : host, kernel);
}

}  // namespace

void allocate(device::Device& device, Parameter& parameter, DType dtype) {
  parameter.value = Tensor::empty(device, parameter.placement.shard.local(parameter.shape), dtype);
}

void initialize(device::Device& device, Parameter& parameter, DType dtype, std::uint64_t seed) {
  allocate(device, parameter, dtype);
  if (!is_random(device, parameter) || !device.computes()) {
    return;
  }
  const std::uint64_t hash = hash64(parameter.name, seed);
  const Philox::Key key{static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)};
  const Tensor drawn = drawing_buffer(device, parameter, parameter.value.shape());
  for_each_part(parameter, drawn, [&](const Part& part) {
    if (is_uniform(parameter)) {
      draw_uniform(part, key, bound_of(parameter));
    } else {
      draw_normal(device, {.x = part.rows,
                           .key = key,
                           .first_index = part.first,
                           .std = static_cast<float>(parameter.initialization.std),
                           .pitch = part.pitch});
    }
  });
  transform_drawn(parameter, values_of(drawn));
  store(device, drawn, {}, parameter.value);
}

void initialize_like_torch(device::Device& device, Parameter& parameter, DType dtype,
                           TorchGenerator& generator) {
  allocate(device, parameter, dtype);
  if (!is_random(device, parameter) || !device.computes()) {
    return;
  }
  const Tensor drawn = drawing_buffer(device, parameter, parameter.shape);
  if (is_uniform(parameter)) {
    const float bound = bound_of(parameter);
    generator.uniform(values_of(drawn), -bound, bound);
  } else {
    generator.normal(values_of(drawn), 0, static_cast<float>(parameter.initialization.std));
  }
  transform_drawn(parameter, values_of(drawn));
  store(device, drawn, parameter.placement.shard, parameter.value);
}

void initialize(device::Device& device, autograd::Buffer& buffer) {
  buffer.value = Tensor::empty(device, buffer.shape, DType::f32);
  device::launch(device.stream(), kernels::Fill{.x = buffer.value.view(), .value = 0});
}

}  // namespace mpitron::ops
