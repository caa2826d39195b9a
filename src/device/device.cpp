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

}  // namespace mpitron::device
