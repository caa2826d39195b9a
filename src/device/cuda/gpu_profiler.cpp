#include <cuda_profiler_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>

#include "device/gpu.h"

namespace mpitron::device {
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
