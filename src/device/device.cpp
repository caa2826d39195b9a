#include "device/device.h"

#include <Kokkos_Core.hpp>

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

HostRuntime::HostRuntime(int threads) {
  if (!Kokkos::is_initialized()) {
    Kokkos::InitArguments arguments;
    arguments.num_threads = threads > 0 ? threads : -1;
    arguments.disable_warnings = true;
    Kokkos::initialize(arguments);
    owns_kokkos_ = true;
  }
}

HostRuntime::~HostRuntime() {
  if (owns_kokkos_) {
    Kokkos::finalize();
  }
}

int HostRuntime::threads() {
  return Kokkos::DefaultHostExecutionSpace::concurrency();
}

}  // namespace mpitron::device
