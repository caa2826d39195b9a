// Lists the GPUs that the process sees, and says why there are none.
#include <cstdlib>

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include "device/cuda/cuda_handles.h"
#include "device/device.h"

namespace mpitron::device {

namespace {

/// 12040 -> "12.4"
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string why_none(cudaError_t status) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver == 0) {
    return "there is no NVIDIA driver (libcuda.so.1): install it, or let the container have it "
           "(docker run --gpus all; NVIDIA_VISIBLE_DEVICES=all)";
  }
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format(
        "the driver knows CUDA up to {}, this program was built with CUDA {}: install a newer "
        "driver, or build with a toolkit of {} or older",
        version_text(driver), version_text(CUDART_VERSION), version_text(driver));
  }
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (status == cudaSuccess || status == cudaErrorNoDevice) {
    return visible != nullptr
               ? fmt::format(
                     "no GPU is visible with CUDA_VISIBLE_DEVICES={}: unset it, or ask the "
                     "launcher for GPUs (--gpus-per-node)",
                     visible)
               : "the driver sees no GPU";
  }
  return fmt::format("the driver says: {}", cudaGetErrorString(status));
}

Gpu gpu_of(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "asking for a GPU's properties");
  char bus_id[32] = {};
  check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, index), "asking for a GPU's place");
  std::string uuid = "GPU-";
  for (int i = 0; i < 16; ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    uuid += fmt::format("{}{:02x}", dash ? "-" : "",
                        static_cast<unsigned char>(properties.uuid.bytes[i]));
  }
  return {.name = properties.name,
          .uuid = uuid,
          .pci_bus_id = bus_id,
          .major = properties.major,
          .minor = properties.minor,
          .bytes = static_cast<Index>(properties.totalGlobalMem)};
}

}  // namespace

VisibleGpus visible_gpus() {
  VisibleGpus result;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();  // it is told here, and not by the next call
  if (status != cudaSuccess || count == 0) {
    result.why_none = why_none(status);
    return result;
  }
  for (int index = 0; index < count; ++index) {
    result.gpus.push_back(gpu_of(index));
  }
  return result;
}

namespace {

/// Nsight Systems and Compute record between start and stop (--capture-range=cudaProfilerApi) and
/// show NVTX ranges beside what they see themselves.
class GpuProfiler final : public TraceRanges {
 public:
  GpuProfiler() { cudaProfilerStart(); }
  ~GpuProfiler() override { cudaProfilerStop(); }
  GpuProfiler(const GpuProfiler&) = delete;
  GpuProfiler& operator=(const GpuProfiler&) = delete;

  void begin(const TraceSpan& span) override {
    if (span.microbatch < 0) {
      nvtxRangePushA(span.name.data());
    } else {
      nvtxRangePushA(fmt::format("{} {}", span.name.data(), span.microbatch).c_str());
    }
  }
  void end() override { nvtxRangePop(); }
};

}  // namespace

std::unique_ptr<TraceRanges> make_gpu_profiler() {
  return std::make_unique<GpuProfiler>();
}

}  // namespace mpitron::device
