#pragma once
#include <cstdint>

#include "autograd/context.h"
#include "autograd/parameter.h"
#include "utils/numbers/torch_random.h"

namespace mpitron::ops {

/// Allocates the parameter's value (its shard of the global shape) in `dtype`, without numbers.
void allocate(device::Device& device, autograd::Parameter& parameter, DType dtype);

/// Allocates the parameter's value and gives it its initial numbers.
///
/// Numerical contract: normal and uniform values are a function of the seed, the parameter's global
/// name and the element's global index (elementwise.h, NormalInit), drawn in fp32 and
/// rounded to dtype: they depend on no layout.
void initialize(device::Device& device, autograd::Parameter& parameter, DType dtype,
                std::uint64_t seed);

/// Draws the numbers that torch's CPU generator draws, parameter after parameter
/// (`--use-cpu-initialization`): each rank draws all of them and keeps its shard.
void initialize_like_torch(device::Device& device, autograd::Parameter& parameter, DType dtype,
                           TorchGenerator& generator);

/// Allocates the buffer and fills it with zeros.
void initialize(device::Device& device, autograd::Buffer& buffer);

}  // namespace mpitron::ops
