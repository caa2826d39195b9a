#pragma once
#include <memory>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"
#include "utils/trace.h"

namespace mpitron::device {

/// A GPU that this process sees.
struct Gpu {
  std::string name;          // "NVIDIA H200"
  std::string uuid;          // "GPU-5e1c..."
  std::string pci_bus_id;    // "0000:1b:00.0"; tells the GPUs of a machine apart
  int major = 0, minor = 0;  // compute capability
  Index bytes = 0;           // of its memory
};

struct VisibleGpus {
  std::vector<Gpu> gpus;  // in the order of their indices
  std::string why_none;   // a reason and what to do; empty where there are some
};

/// Asks the driver. Defined only where `kHasCuda` (device/cuda).
VisibleGpus visible_gpus();

/// Has an attached profiler of GPUs record while it lives, and shows it the ranges of a trace.
/// Defined only where `kHasCuda` (device/cuda).
std::unique_ptr<TraceRanges> make_gpu_profiler();

}  // namespace mpitron::device
