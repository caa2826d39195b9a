#pragma once
#include <vector>

#include "autograd/parameter.h"
#include "parallel/bucket_layout.h"

namespace mpitron::parallel {

using autograd::Parameter;
using tensor::Tensor;

void fill_zero(device::Device& device, const Tensor& x);
/// y = x, any types.
void copy(device::Device& device, const Tensor& x, const Tensor& y);
Tensor zeros(device::Device& device, Index numel, DType dtype);
/// The same in memory for what travels (Device::buffers).
Tensor zeros_to_send(device::Device& device, Index numel, DType dtype);
/// [numel]
Tensor flat(const Tensor& x);
/// Elements from the start of one to the start of the other, in the same memory.
Index distance(const Tensor& from, const Tensor& to);

/// Moves the values of parameters of one type into `memory`, laid out as `layout` says.
void move_values(device::Device& device, std::span<Parameter* const> parameters,
                 const BucketLayout& layout, const Tensor& memory);

}  // namespace mpitron::parallel
