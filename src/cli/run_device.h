#pragma once
#include <string_view>

#include "comm/world.h"
#include "device/device.h"

namespace mpitron::cli {

/// Where this rank computes, as `--device` says; rank 0 logs why that is the host where "auto"
/// could have been a GPU. Error(environment) where a GPU is wanted and there is none.
std::unique_ptr<device::Device> make_run_device(std::string_view wanted, comm::World& world);

}  // namespace mpitron::cli
