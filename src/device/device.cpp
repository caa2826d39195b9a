// Makes the device that --device names and refuses what this build or machine lacks, once, with
// what there is.
#include "device/device.h"

#include "utils/error.h"

namespace mpitron::device {

std::unique_ptr<Device> make_device(std::string_view name, std::unique_ptr<Allocator> memory) {
  if (memory == nullptr) {
    memory = std::make_unique<CachingHostAllocator>();
  }
  if (name == "host") {
    return std::make_unique<Device>(HostStream{}, std::move(memory));
  }
  if (name == "reference") {
    return std::make_unique<Device>(ReferenceStream{}, std::move(memory));
  }
  if constexpr (kHasCuda) {
    if (name == "cuda") {
      return make_cuda_device(0);
    }
    throw_usage("--device {}: this build has host, reference, cuda", name);
  }
  throw_usage("--device {}: this build has host, reference", name);
}

std::unique_ptr<Device> make_null_device() {
  return std::make_unique<Device>(NullStream{},
                                  std::make_unique<CachingHostAllocator>(reserved_pages()));
}

DeviceChoice choose_device(std::string_view wanted, const std::optional<VisibleGpus>& gpus,
                           Index local_rank) {
  const bool automatic = wanted == "auto";
  if (!automatic && wanted != "cuda") {
    return {.name = std::string(wanted)};
  }
  if (!gpus) {
    if (!automatic) {
      throw_environment(
          "--device cuda: this program was built without CUDA; run mpitron-cuda (make cuda builds "
          "it), or leave --device out to compute on the host");
    }
    return {.name = "host"};
  }
  if (gpus->gpus.empty()) {
    if (!automatic) {
      throw_environment("--device cuda: {}", gpus->why_none);
    }
    return {.name = "host", .notice = "no GPU, going on with the host: " + gpus->why_none};
  }
  const auto count = static_cast<Index>(gpus->gpus.size());
  return {.name = "cuda", .index = static_cast<int>(local_rank % count)};
}

std::optional<VisibleGpus> find_gpus() {
  if constexpr (kHasCuda) {
    return visible_gpus();
  } else {
    return std::nullopt;
  }
}

}  // namespace mpitron::device
