// Copies between a shard and its place in a whole tensor, range by range, converting on the way.
#include "autograd/shard_copy.h"

#include "kernels/elementwise/elementwise.h"

namespace mpitron::autograd {

using device::ConstTensorView;
using device::TensorView;

void copy_to_shard(device::Device& device, const ConstTensorView& global,
                   const tensor::Shard& shard, const TensorView& local) {
  MPITRON_CHECK(shard.local(global.shape) == local.shape, to_string(local.shape));
  tensor::for_each_range(shard, global, local,
                         [&](const ConstTensorView& from, const TensorView& to) {
                           device::launch(device.stream(), kernels::Cast{.x = from, .y = to});
                         });
}

void copy_from_shard(device::Device& device, const ConstTensorView& local,
                     const tensor::Shard& shard, const TensorView& global) {
  MPITRON_CHECK(shard.local(global.shape) == local.shape, to_string(local.shape));
  tensor::for_each_range(shard, global, local,
                         [&](const TensorView& to, const ConstTensorView& from) {
                           device::launch(device.stream(), kernels::Cast{.x = from, .y = to});
                         });
}

}  // namespace mpitron::autograd
