#include "comm/groups/device_world.h"

namespace mpitron::comm {

std::shared_ptr<World> world_for_device(std::shared_ptr<World> host, device::Device& device,
                                        const DeviceTransport& transport) {
  if constexpr (device::kHasCuda) {
    if (!device.tensors_on_host()) {
      return make_gpu_world(std::move(host), device, transport);
    }
  }
  return host;
}

}  // namespace mpitron::comm
