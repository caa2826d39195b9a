#pragma once
#include <string>
#include <vector>

#include "device/gpu.h"
#include "doctor/check_result.h"
#include "launch/environment.h"

namespace mpitron::doctor {

/// GPUs as the system shows them.
struct GpuFacts {
  std::vector<std::string> devices;  // "/dev/nvidia0"
  bool has_driver = false;           // libcuda.so.1 can be loaded
  bool built_with_cuda = false;      // this program
  device::VisibleGpus visible = {};  // what the driver tells a program built with CUDA
};

GpuFacts read_gpus(bool built_with_cuda);

CheckResult check_gpus(const GpuFacts& facts, const launch::Environment& environment);

}  // namespace mpitron::doctor
