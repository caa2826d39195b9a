#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "device/device.h"
#include "device/gpu.h"

namespace mpitron::device {

/// Where a rank computes.
struct DeviceChoice {
  std::string name;         // of make_device
  int index = 0;            // of the GPU
  std::string notice = {};  // why it is not a GPU, where one could have been expected
};

/// `wanted`: "auto" (a GPU where there is one, else the host), or a name of make_device. A rank
/// that sees one GPU takes it; of several the one with its number on the node. `gpus`: absent in
/// programs without CUDA. Error(environment) where a GPU is wanted and there is none.
DeviceChoice choose_device(std::string_view wanted, const std::optional<VisibleGpus>& gpus,
                           Index local_rank);

/// The GPUs of a program with CUDA.
std::optional<VisibleGpus> find_gpus();

}  // namespace mpitron::device
