#pragma once
#include "comm/device_world.h"

namespace mpitron::comm {

/// world_for_device where tensors lie on a GPU. Defined only where `device::kHasCuda`.
std::shared_ptr<World> make_gpu_world(std::shared_ptr<World> host, device::Device& device,
                                      const DeviceTransport& transport);

}  // namespace mpitron::comm
