#include "cli/run_device.h"

#include "device/device_choice.h"
#include "utils/log.h"

namespace mpitron::cli {

std::unique_ptr<device::Device> make_run_device(std::string_view wanted, comm::World& world) {
  const auto gpus = device::find_gpus();
  const device::DeviceChoice choice = device::choose_device(wanted, gpus, world.local_rank());
  if (!choice.notice.empty() && world.rank() == 0) {
    log::info("{}", choice.notice);
  }
  if constexpr (device::kHasCuda) {
    if (choice.name == "cuda") {
      const device::Gpu& gpu = gpus->gpus[static_cast<std::size_t>(choice.index)];
      log::info("GPU {} ({}, {}, compute capability {}.{}, {} GiB)", choice.index, gpu.name,
                gpu.pci_bus_id, gpu.major, gpu.minor, gpu.bytes >> 30);
      return device::make_cuda_device(choice.index);
    }
  }
  return device::make_device(choice.name, world.make_allocator());
}

}  // namespace mpitron::cli
