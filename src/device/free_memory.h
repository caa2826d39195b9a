#pragma once
#include "device/device.h"

namespace mpitron::device {

/// Bytes that are free for everybody where the device's tensors lie: in the host's memory or the
/// GPU's.
Index free_memory(const Device& device);

/// Asks the driver about the current GPU. Defined only where `kHasCuda` (device/cuda).
Index free_gpu_memory();

}  // namespace mpitron::device
