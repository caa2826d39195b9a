#pragma once
#include <string_view>

#include "comm/groups/device_world.h"
#include "config/parallel_config.h"

namespace mpitron::cli {

/// Where this rank computes, as `--device` says; rank 0 logs why that is the host where "auto"
/// could have been a GPU. Error(environment) where a GPU is wanted and there is none, or two ranks
/// would share one and `parallel` says that tensors travel by NCCL. Called by all ranks.
std::unique_ptr<device::Device> make_run_device(std::string_view wanted, comm::World& world,
                                                const config::ParallelConfig& parallel);

/// How the options have tensors of a GPU travel (--distributed-backend and others).
comm::DeviceTransport device_transport(const config::ParallelConfig& parallel);

}  // namespace mpitron::cli
