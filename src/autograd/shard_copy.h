#pragma once
#include "device/device.h"
#include "tensor/shard.h"

namespace mpitron::autograd {

// Between a global tensor and the shard of it that lies here (tests, replay, files): every element
// is converted to the destination's type. `local` has the shape shard.local(global shape).

void copy_to_shard(device::Device& device, const device::ConstTensorView& global,
                   const tensor::Shard& shard, const device::TensorView& local);

/// Writes only this shard's elements of the global tensor.
void copy_from_shard(device::Device& device, const device::ConstTensorView& local,
                     const tensor::Shard& shard, const device::TensorView& global);

}  // namespace mpitron::autograd
