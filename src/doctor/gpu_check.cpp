#include "doctor/gpu_check.h"

#include <algorithm>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>

#include "device/device_choice.h"

namespace mpitron::doctor {

GpuFacts read_gpus(bool built_with_cuda) {
  GpuFacts facts{.devices = {}, .has_driver = false, .built_with_cuda = built_with_cuda};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    const std::string number = name.starts_with("nvidia") ? name.substr(6) : "";
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) {
      facts.devices.push_back(entry.path());
    }
  }
  std::sort(facts.devices.begin(), facts.devices.end());
  if (!facts.devices.empty()) {
    facts.has_driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;
    facts.visible = device::find_gpus().value_or(device::VisibleGpus{});
  }
  return facts;
}

CheckResult check_gpus(const GpuFacts& facts, const launch::Environment& environment) {
  if (facts.devices.empty()) {
    return {"gpu", Verdict::skipped, "no NVIDIA GPU here (/dev/nvidia0)", ""};
  }
  CheckResult result{"gpu", Verdict::ok, fmt::format("{} GPUs", facts.devices.size()), ""};
  const auto visible = launch::text_of(environment, "CUDA_VISIBLE_DEVICES");
  if (!facts.has_driver) {
    result.verdict = Verdict::fail;
    result.found += ", but libcuda.so.1 cannot be loaded";
    result.advice =
        "in a container: docker run --gpus all, or export NVIDIA_VISIBLE_DEVICES=all "
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility (enroot); else install the driver";
  } else if (visible && (visible->empty() || *visible == "-1")) {
    result.verdict = Verdict::warn;
    result.found += ", hidden by an empty CUDA_VISIBLE_DEVICES";
    result.advice = "unset CUDA_VISIBLE_DEVICES; under Slurm ask for them: --gpus-per-node";
  } else if (!facts.built_with_cuda) {
    result.verdict = Verdict::warn;
    result.found += ", which this program was built without";
    result.advice = "make cuda, then run mpitron-cuda";
  } else if (facts.visible.gpus.empty()) {
    result.verdict = Verdict::fail;
    result.found += ", of which this program can use none";
    result.advice = facts.visible.why_none;
  } else {
    for (const device::Gpu& gpu : facts.visible.gpus) {
      result.found += fmt::format("; {} at {} ({}, compute capability {}.{}, {} GiB)", gpu.name,
                                  gpu.pci_bus_id, gpu.uuid, gpu.major, gpu.minor, gpu.bytes >> 30);
    }
  }
  return result;
}

}  // namespace mpitron::doctor
