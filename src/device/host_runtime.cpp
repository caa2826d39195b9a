#include <Kokkos_Core.hpp>

#include "device/device.h"

namespace mpitron::device {

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
