#pragma once
#include <span>
#include <vector>

#include "autograd/parameter.h"
#include "comm/groups/group.h"
#include "parallel/bucket_layout.h"

// Tensors that lie one behind the other in one piece of memory, which collectives and updates treat
// as one tensor: gradients, values and states of buckets.

namespace mpitron::parallel {

using autograd::Parameter;
using tensor::Tensor;

/// x = 0.
void fill_zero(device::Device& device, const Tensor& x);
/// y = x, any types.
void copy(device::Device& device, const Tensor& x, const Tensor& y);
/// New memory of the device, [numel], all 0.
Tensor zeros(device::Device& device, Index numel, DType dtype);
/// Makes zeros in memory for what travels (Device::buffers).
Tensor zeros_to_send(device::Device& device, Index numel, DType dtype);
/// Views the same memory as one dimension, [numel].
Tensor flat(const Tensor& x);
/// Elements from the start of one to the start of the other, which lie in the same memory;
/// negative where `to` lies before `from`.
Index distance(const Tensor& from, const Tensor& to);

/// Moves the values of parameters of one type into `memory`, laid out as `layout` says; the
/// parameters view it from then on.
void move_values(device::Device& device, std::span<Parameter* const> parameters,
                 const BucketLayout& layout, const Tensor& memory);

/// Each tensor = its sum over the group's members, all in one operation. Every member gives
/// tensors of the same sizes in the same order, all of one type.
///
/// Numerical contract: that of Group; lying together changes no bit.
void sum_together(device::Device& device, comm::Group& group, std::span<const Tensor> tensors);

}  // namespace mpitron::parallel
