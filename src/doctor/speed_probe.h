#pragma once
#include <functional>

#include "device/device.h"

namespace mpitron::doctor {

/// What a process gets from its machine.
struct Speed {
  double flops = 0;        // fp32 operations per second in a matrix product
  double bytes_per_s = 0;  // read and written while memory is scaled
};

struct SpeedProbe {
  Index side = 1024;               // of the matrices
  Index bytes = Index{256} << 20;  // of each array: far more than the caches hold
  Index repetitions = 5;           // of which the fastest counts
  std::function<void()> barrier;   // of all ranks, so that neighbours measure at the same time
};

/// HostRuntime must live.
Speed measure_speed(device::Device& host, const SpeedProbe& probe);

}  // namespace mpitron::doctor
