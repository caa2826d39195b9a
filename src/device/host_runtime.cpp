// Starts and ends Kokkos, whose runtime there is once in a process.
#include <Kokkos_Core.hpp>
#include <fmt/format.h>

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

LibraryVersion kokkos_version() {
  constexpr int kVersion = KOKKOS_VERSION;  // 30401
  return {"Kokkos", fmt::format("{}.{}.{}", kVersion / 10000, kVersion / 100 % 100, kVersion % 100),
          ""};
}

}  // namespace mpitron::device
